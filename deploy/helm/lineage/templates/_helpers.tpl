{{- define "lineage.name" -}}
{{- if contains "lineage" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-lineage" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "lineage.labels" -}}
app.kubernetes.io/name: lineage
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "lineage.selector" -}}
app.kubernetes.io/name: lineage
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: service
{{- end }}

{{- define "lineage.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "lineage.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "lineage.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* The store as commands read it. With a file, ingests go through the service: one pod has the volume. */}}
{{- define "lineage.storeOfNeo4j" -}}
- name: LINEAGE_STORE
  value: {{ .Values.store.address | quote }}
{{- with .Values.store.credentialsSecret }}
- name: LINEAGE_NEO4J_USER
  valueFrom: {secretKeyRef: {name: {{ . }}, key: user}}
- name: LINEAGE_NEO4J_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ . }}, key: password}}
{{- end }}
{{- end }}
