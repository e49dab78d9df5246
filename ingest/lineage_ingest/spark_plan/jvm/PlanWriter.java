package lineage.spark;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Writes a logical plan as JSON: a list of nodes, each after the nodes that it refers to.
 *
 * A node is [class, properties, nodes by field]. Equal attributes are one node, as are all literals, so the text stays
 * short where TreeNode.toJSON grows to megabytes. Values of literals, rows of local data and options that are not in
 * a list of harmless ones are never written. Compiled by Spark's own Janino: no generics, no lambdas.
 */
public final class PlanWriter {
  /** The plan exceeds a limit: the message says which. */
  public static final class LimitExceeded extends RuntimeException {
    public LimitExceeded(String message) {
      super(message, null, false, false);
    }
  }

  private static final Set PROPERTIES = new HashSet(Arrays.asList(new Object[] {
    "name", "identifier", "tableIdentifier", "udfName", "functionName", "joinType", "isDistinct", "viewType",
    "outputColumnNames", "userSpecifiedColumns", "isByName", "byName", "byPosition", "id", "cteId", "loopId",
    "ordinal", "outer", "exprId", "overwrite", "outputPath", "catalogTable", "table", "tableMeta", "tableDesc",
    "storage", "newName", "oldName", "renameTo", "catalog", "identifier", "ident", "mode", "originalText", "isTempView",
    "generatorOutput", "field", "queryId", "provider", "dataSource", "sourceName", "newIdentifier", "isView",
    "ifExists", "resultIds", "groupByExprs", "nameParts", "resolvedIdentifier", "sinkName", "isStreaming", "isDir",
    "tableName", "evalType", "path", "desc",
    "leftGroupingLen", "rightGroupingLen", "groupingAttributesLen", "targetColNameParts", "context",
  }));
  /** Nodes whose columns follow from their expressions and children. Others are written with their columns. */
  private static final Set DERIVED = new HashSet(Arrays.asList(new Object[] {
    "Project", "Filter", "SubqueryAlias", "Aggregate", "Join", "LateralJoin", "Sort", "GlobalLimit", "LocalLimit",
    "Offset", "Tail", "Distinct", "Deduplicate", "Window", "WithCTE", "CTERelationDef", "Sample", "ResolvedHint",
    "Repartition", "RepartitionByExpression",
  }));
  private static final Set OPTIONS = new HashSet(Arrays.asList(new Object[] {
    "path", "url", "dbtable", "query", "topic", "subscribe", "subscribepattern", "assign", "table", "database",
    "collection", "keyspace", "kafka.bootstrap.servers", "sfurl", "sfdatabase", "sfschema", "project", "dataset",
    "basepath", "streamname", "stream", "queuename", "host", "port", "connection.uri", "spark.mongodb.connection.uri",
  }));

  /** Expressions whose value is the greatest or least of structs: what the first fields are decides the later ones. */
  private static final Set EXTREMES = new HashSet(Arrays.asList(new Object[] {
    "Max", "Min", "Greatest", "Least", "ArrayMax", "ArrayMin",
  }));

  private final StringBuilder out = new StringBuilder(4096);
  private final IdentityHashMap written = new IdentityHashMap();
  private final HashMap attributes = new HashMap();
  private final int maxCharacters;
  private final long deadline;
  private final boolean relationsOnly;
  private int count = 0;
  private int literal = -1;

  /** With relationsOnly, expressions are left out: what remains says which datasets the plan reads and writes. */
  public PlanWriter(int maxCharacters, long deadlineNanos, boolean relationsOnly) {
    this.maxCharacters = maxCharacters;
    this.deadline = deadlineNanos;
    this.relationsOnly = relationsOnly;
  }

  /** Returns the JSON list of the plan's nodes; the last one is the plan. */
  public String write(LogicalPlan plan) {
    node(plan);
    return "[" + out + "]";
  }

  private int node(TreeNode node) {
    Object known = written.get(node);
    if (known != null) {
      return ((Integer) known).intValue();
    }
    int number;
    if (node instanceof AttributeReference) {
      number = attribute((AttributeReference) node);
    } else if (node instanceof Literal) {
      if (literal < 0) {
        literal = add("Literal", "", "");
      }
      number = literal;
    } else {
      number = product(node);
    }
    written.put(node, Integer.valueOf(number));
    return number;
  }

  private int attribute(AttributeReference attribute) {
    String key = attribute.exprId().id() + " " + attribute.name();
    Object known = attributes.get(key);
    if (known != null) {
      return ((Integer) known).intValue();
    }
    String properties = "\"exprId\":" + attribute.exprId().id() + ",\"name\":" + Json.quote(attribute.name());
    int number = add("AttributeReference", properties, "");
    attributes.put(key, Integer.valueOf(number));
    return number;
  }

  private int product(TreeNode node) {
    boolean isPlan = node instanceof LogicalPlan;
    String name = Json.className(node);
    StringBuilder properties = new StringBuilder();
    StringBuilder nodes = new StringBuilder();
    if (isPlan) {
      Object definitions = name.equals("WithCTE") ? field(node, "cteDefs") : null;
      if (definitions != null) {
        nodesIn(definitions);
      }
      nodesIn(node.children());
    }
    Object replacement = replacementOf(node);
    HashSet met = new HashSet();
    if (replacement != null) {
      Json.append(nodes, "replacement", String.valueOf(node((TreeNode) replacement)));
    } else {
      for (int i = 0; i < node.productArity(); i++) {
        String field = node.productElementName(i);
        Object value = node.productElement(i);
        String inside = nodesIn(value);
        if (inside != null) {
          Json.append(nodes, field, inside);
        }
        if (PROPERTIES.contains(field)) {
          String property = property(value);
          if (property != null) {
            Json.append(properties, field, property);
          }
        } else if (value instanceof scala.collection.Map || value instanceof Map) {
          String options = options(value);
          if (options != null) {
            Json.append(properties, "options", options);
          }
        }
      }
      String others = childrenWithoutField(node);
      if (others != null) {
        Json.append(nodes, "children", others);
      }
    }
    if (isPlan) {
      describe((LogicalPlan) node, name, properties);
    } else {
      describeExpression((Expression) node, name, properties);
    }
    return add(name, properties.toString(), nodes.toString());
  }

  /** Runtime-replaceable expressions are what replaces them; their parameters are not resolved. */
  private Object replacementOf(TreeNode node) {
    if (node instanceof org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable) {
      return Reflect.call(node, "replacement");
    }
    return null;
  }

  private String childrenWithoutField(TreeNode node) {
    StringBuilder found = null;
    scala.collection.Iterator children = node.children().iterator();
    while (children.hasNext()) {
      TreeNode child = (TreeNode) children.next();
      if (!written.containsKey(child) && !(relationsOnly && child instanceof Expression)) {
        found = found == null ? new StringBuilder("[") : found.append(",");
        found.append(node(child));
      }
    }
    return found == null ? null : found.append("]").toString();
  }

  /** Returns the numbers of the nodes in a field's value, in lists as it has them; null if there is none. */
  private String nodesIn(Object value) {
    if (value instanceof TreeNode) {
      if (value instanceof LogicalPlan || (value instanceof Expression && (!relationsOnly || hasPlan(value)))) {
        return String.valueOf(node((TreeNode) value));
      }
      return null;
    }
    if (value instanceof scala.Option) {
      scala.Option option = (scala.Option) value;
      return option.isEmpty() ? null : nodesIn(option.get());
    }
    scala.collection.Iterator items = null;
    if (value instanceof scala.collection.Iterable && !(value instanceof scala.collection.Map)) {
      items = ((scala.collection.Iterable) value).iterator();
    } else if (value instanceof scala.Product && value.getClass().getName().startsWith("scala.Tuple")) {
      items = ((scala.Product) value).productIterator();
    }
    if (items == null) {
      return null;
    }
    StringBuilder list = new StringBuilder("[");
    boolean any = false;
    int position = 0;
    while (items.hasNext()) {
      Object item = items.next();
      if (position == 0 && !mayHaveNodes(item)) {
        return null;
      }
      String inside = nodesIn(item);
      any |= inside != null;
      list.append(position++ == 0 ? "" : ",").append(inside);
    }
    return any ? list.append("]").toString() : null;
  }

  private static boolean mayHaveNodes(Object item) {
    return item instanceof TreeNode || item instanceof scala.Option || item instanceof scala.collection.Iterable
      || (item != null && item.getClass().getName().startsWith("scala.Tuple"));
  }

  private static boolean hasPlan(Object expression) {
    if (expression instanceof org.apache.spark.sql.catalyst.expressions.PlanExpression) {
      return true;
    }
    scala.collection.Iterator children = ((TreeNode) expression).children().iterator();
    while (children.hasNext()) {
      if (hasPlan(children.next())) {
        return true;
      }
    }
    return false;
  }

  /** Returns a value as JSON if it is a name, a number, a location or a table; else null. */
  private String property(Object value) {
    if (value == null || value instanceof TreeNode) {
      return null;
    }
    if (value instanceof scala.Option) {
      scala.Option option = (scala.Option) value;
      return option.isEmpty() ? null : property(option.get());
    }
    if (value instanceof Boolean || value instanceof Long || value instanceof Integer) {
      return String.valueOf(value);
    }
    if (value instanceof ExprId) {
      return String.valueOf(((ExprId) value).id());
    }
    if (value instanceof String) {
      return Json.quote((String) value);
    }
    String name = value.getClass().getName();
    if (value instanceof java.net.URI || name.equals("org.apache.hadoop.fs.Path") || value instanceof Enum) {
      return Json.quote(String.valueOf(value));
    }
    if (name.startsWith("org.apache.spark.sql.catalyst.plans.") || value instanceof StructField) {
      return Json.quote(value instanceof StructField ? ((StructField) value).name() : joinType(value));
    }
    if (name.endsWith("AliasIdentifier")) {
      return null;
    }
    if (name.endsWith("CommonExpressionId")) {
      return String.valueOf(Reflect.call(value, "id"));
    }
    if (name.equals("org.apache.spark.sql.catalyst.TableIdentifier")) {
      return Json.list(new Object[] {
        Reflect.option(value, "catalog"), Reflect.option(value, "database"), Reflect.call(value, "table"),
      });
    }
    if (name.equals("org.apache.spark.sql.catalyst.catalog.CatalogTable")) {
      return catalogTable(value);
    }
    if (name.equals("org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat")) {
      Object location = Reflect.option(value, "locationUri");
      return location == null ? null : Json.quote(String.valueOf(location));
    }
    if (value instanceof org.apache.spark.sql.connector.catalog.Identifier) {
      return identifier((org.apache.spark.sql.connector.catalog.Identifier) value);
    }
    if (value instanceof org.apache.spark.sql.connector.catalog.CatalogPlugin) {
      return Json.quote(((org.apache.spark.sql.connector.catalog.CatalogPlugin) value).name());
    }
    if (value instanceof scala.collection.Seq) {
      return names((scala.collection.Seq) value);
    }
    if (name.contains("ViewType") || name.contains("PersistedView") || name.contains("TempView")) {
      return Json.quote(String.valueOf(value));
    }
    return value instanceof scala.collection.Map || value instanceof Map ? null : Json.quote(Json.className(value));
  }

  private static String joinType(Object value) {
    Object sql = Reflect.call(value, "sql");
    return sql == null ? Json.className(value) : String.valueOf(sql);
  }

  private String names(scala.collection.Seq values) {
    StringBuilder list = new StringBuilder("[");
    scala.collection.Iterator items = values.iterator();
    while (items.hasNext()) {
      Object item = items.next();
      if (item instanceof scala.Product && item.getClass().getName().startsWith("scala.Tuple")) {
        item = ((scala.Product) item).productElement(0);
      }
      if (!(item instanceof String)) {
        return null;
      }
      list.append(list.length() == 1 ? "" : ",").append(Json.quote((String) item));
    }
    return list.append("]").toString();
  }

  private String identifier(org.apache.spark.sql.connector.catalog.Identifier identifier) {
    String[] parts = (String[]) Arrays.copyOf(identifier.namespace(), identifier.namespace().length + 1);
    parts[parts.length - 1] = identifier.name();
    return Json.list(parts);
  }

  private String catalogTable(Object table) {
    Object identifier = Reflect.call(table, "identifier");
    StringBuilder found = new StringBuilder();
    Json.append(found, "table", property(identifier));
    Json.append(found, "provider", Json.text(Reflect.option(table, "provider")));
    Json.append(found, "location", Json.text(Reflect.option(Reflect.call(table, "storage"), "locationUri")));
    Json.append(found, "type", Json.text(Reflect.call(Reflect.call(table, "tableType"), "name")));
    Json.append(found, "viewText", Json.text(Reflect.option(table, "viewText")));
    return "{" + found + "}";
  }

  private String options(Object map) {
    StringBuilder found = new StringBuilder();
    if (map instanceof scala.collection.Map) {
      scala.collection.Iterator entries = ((scala.collection.Map) map).iterator();
      while (entries.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) entries.next();
        option(entry._1(), entry._2(), found);
      }
    } else {
      Iterator entries = ((Map) map).entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        option(entry.getKey(), entry.getValue(), found);
      }
    }
    return found.length() == 0 ? null : "{" + found + "}";
  }

  private static void option(Object key, Object value, StringBuilder found) {
    if (key instanceof String && value instanceof String) {
      String name = ((String) key).toLowerCase(java.util.Locale.ROOT);
      if (OPTIONS.contains(name)) {
        Json.append(found, name, Json.quote((String) value));
      }
    }
  }

  // What TreeNode's own JSON leaves out

  private void describe(LogicalPlan plan, String name, StringBuilder properties) {
    Object relation = name.equals("LogicalRelation") ? field(plan, "relation") : null;
    if (relation != null) {
      Json.append(properties, "source", Sources.relation(relation));
    } else if (name.equals("StreamingRelation") || name.equals("StreamingExecutionRelation")) {
      Object source = field(plan, name.equals("StreamingRelation") ? "dataSource" : "source");
      Json.append(properties, "source", Sources.stream(source));
    } else if (name.equals("WriteToMicroBatchDataSourceV1")) {
      Json.append(properties, "sink", Sources.sink(field(plan, "sink")));
    } else if (name.equals("LogicalRDD") || name.equals("ExternalRDD")) {
      Sources.rdd(field(plan, "rdd"), properties);
    } else if (name.equals("WriteToStream")) {
      Json.append(properties, "sink", Sources.sink(field(plan, "sink")));
    }
    Object changed = changedTable(plan, name);
    if (changed != null && plan.getClass().getName().startsWith("org.apache.spark.sql.catalyst.")) {
      Json.append(properties, "command", Json.text(Reflect.call(Reflect.call(plan, "operation"), "command")));
    }
    Json.append(properties, "isPartial", isPartial(plan, name) ? "true" : null);
    Object table = field(plan, "table");
    if (table instanceof org.apache.spark.sql.connector.catalog.Table) {
      Json.append(properties, "v2", Sources.table((org.apache.spark.sql.connector.catalog.Table) table));
    }
    Object query = field(plan, "query");
    if (query == null) {
      query = field(plan, "plan");
    }
    if (query == null && plan.children().size() == 1 && isWrite(plan)
        && !plan.children().head().getClass().getSimpleName().startsWith("Resolved")) {
      query = plan.children().head();
    }
    if (name.equals("CloneTableCommand")) {
      Object source = field(plan, "sourceTable");
      Json.append(properties, "source", "{\"paths\":" + Json.list(new Object[] {Reflect.call(source, "dataPath")}) + "}");
      Json.append(properties, "catalogTable", property(Reflect.option(source, "catalogTable")));
      Json.append(properties, "columns", clonedColumns(plan));
    } else if (query instanceof LogicalPlan && Json.className(query).equals("CloneTableCommand")) {
      Json.append(properties, "columns", clonedColumns((LogicalPlan) query));
      Json.append(properties, "writes", "true");
    } else if (changed instanceof LogicalPlan) {
      Json.append(properties, "columns", columns(((LogicalPlan) changed).output()));
      Json.append(properties, "writes", "true");
    } else if (plan.children().isEmpty() && !(query instanceof LogicalPlan)) {
      Json.append(properties, "columns", columns(plan.output()));
    } else if (query instanceof LogicalPlan && isWrite(plan)) {
      Json.append(properties, "columns", columns(((LogicalPlan) query).output()));
      Json.append(properties, "writes", "true");
    }
    if (!plan.children().isEmpty() && !DERIVED.contains(name) && !isWrite(plan)) {
      Json.append(properties, "columns", outputOf(plan));
    }
  }

  /** The columns of a node of any class; null if it cannot say them. */
  private static String outputOf(LogicalPlan plan) {
    try {
      return columns(plan.output());
    } catch (RuntimeException unresolved) {
      return null;
    }
  }

  /** The table whose rows a command changes; null if it is no such command. */
  private static Object changedTable(LogicalPlan plan, String name) {
    if (name.equals("ReplaceData") || name.equals("WriteDelta")) {
      return field(plan, "originalTable");
    }
    return name.equals("MergeIntoCommand") || name.equals("UpdateCommand") || name.equals("DeleteCommand")
      ? field(plan, "target") : null;
  }

  /** Whether a command overwrites a part of a table only: some partitions, or the rows of a condition. */
  private static boolean isPartial(LogicalPlan plan, String name) {
    if (name.equals("OverwriteByExpression")) {
      return !(field(plan, "deleteExpr") instanceof Literal);
    }
    Object partitions = name.equals("InsertIntoHiveTable") ? field(plan, "partition") : field(plan, "staticPartitions");
    return name.equals("OverwritePartitionsDynamic") || name.equals("DeltaDynamicPartitionOverwriteCommand")
      || (name.equals("InsertIntoHadoopFsRelationCommand")
        && Boolean.TRUE.equals(Reflect.call(plan, "dynamicPartitionOverwrite")))
      || (partitions instanceof scala.collection.Map && !((scala.collection.Map) partitions).isEmpty());
  }

  private static boolean isWrite(LogicalPlan plan) {
    return plan instanceof org.apache.spark.sql.catalyst.plans.logical.Command
      || plan.getClass().getSimpleName().startsWith("WriteTo");
  }

  /** Names what is not among an expression's own fields: its id, its function, the fields of a struct. */
  private static void describeExpression(Expression expression, String name, StringBuilder properties) {
    if (expression instanceof NamedExpression && expression.resolved()) {
      Json.append(properties, "exprId", String.valueOf(((NamedExpression) expression).exprId().id()));
    }
    String pretty = expression.prettyName();
    if (!pretty.equalsIgnoreCase(name)) {
      Json.append(properties, "function", Json.quote(pretty));
    }
    if (name.equals("Cast")) {
      describeCast((Cast) expression, properties);
    } else if (name.equals("ArraysZip")) {
      DataType element = ((org.apache.spark.sql.types.ArrayType) expression.dataType()).elementType();
      Json.append(properties, "names", Json.list(((StructType) element).fieldNames()));
    } else if (name.equals("ScalaUDF")) {
      Json.append(properties, "model", Json.text(modelOf(Reflect.call(expression, "function"))));
    } else if (name.equals("GetStructField")) {
      Json.append(properties, "field", Json.text(Reflect.call(expression, "extractFieldName")));
    } else if (EXTREMES.contains(name) && expression.resolved() && expression.dataType() instanceof StructType) {
      Json.append(properties, "names", Json.list(((StructType) expression.dataType()).fieldNames()));
    } else if (name.equals("CreateMap")) {
      Json.append(properties, "keys", keysOf(expression));
    } else if (name.equals("CreateNamedStruct")) {
      scala.collection.Seq names = (scala.collection.Seq) Reflect.call(expression, "names");
      Object[] texts = new Object[names.size()];
      for (int i = 0; i < texts.length; i++) {
        texts[i] = String.valueOf(names.apply(i));
      }
      Json.append(properties, "names", Json.list(texts));
    } else if (name.equals("Inline")) {
      Object schema = Reflect.call(expression, "elementSchema");
      if (schema instanceof StructType) {
        Json.append(properties, "fields", Json.list(((StructType) schema).fieldNames()));
      }
    } else if (name.equals("ShiftRight")) {
      Object bits = expression.children().apply(1);
      if (bits instanceof Literal && ((Literal) bits).value() instanceof Integer) {
        Json.append(properties, "bits", String.valueOf(((Literal) bits).value()));
      }
    } else if (name.equals("GetMapValue") || name.equals("ElementAt") || name.equals("GetJsonObject")
        || name.equals("VariantGet") || name.equals("GetArrayItem")) {
      Object key = expression.children().size() > 1 ? expression.children().apply(1) : null;
      if (key instanceof Literal && ((Literal) key).dataType() instanceof org.apache.spark.sql.types.StringType) {
        Json.append(properties, "key", Json.text(String.valueOf(((Literal) key).value())));
        boolean isPart = name.equals("VariantGet") && expression.dataType().typeName().equals("variant");
        Json.append(properties, "isPart", isPart ? "true" : null);
      }
    }
  }

  /** The keys of a map that a query builds, if all of them are texts in it; null if not. */
  private static String keysOf(Expression map) {
    Object[] keys = new Object[map.children().size() / 2];
    for (int i = 0; i < keys.length; i++) {
      Object key = map.children().apply(2 * i);
      if (!(key instanceof Literal) || !(((Literal) key).dataType() instanceof org.apache.spark.sql.types.StringType)) {
        return null;
      }
      keys[i] = String.valueOf(((Literal) key).value());
    }
    return Json.list(keys);
  }

  /** The class of Spark's own fitted model that a function belongs to; null if it is other code. */
  private static String modelOf(Object function) {
    String name = function == null ? "" : function.getClass().getName();
    name = name.indexOf('$') < 0 ? name : name.substring(0, name.indexOf('$'));
    return name.startsWith("org.apache.spark.ml.") && name.endsWith("Model")
      ? name.substring(name.lastIndexOf('.') + 1) : null;
  }

  /** Whether the query has the cast, and the names of the fields of a struct after and before it. */
  private static void describeCast(Cast cast, StringBuilder properties) {
    if (cast.getTagValue(Cast.USER_SPECIFIED_CAST()).isDefined()) {
      Json.append(properties, "explicit", "true");
    }
    DataType before = cast.child().resolved() ? cast.child().dataType() : null;
    if (before instanceof StructType && cast.dataType() instanceof StructType) {
      Json.append(properties, "names", Json.list(((StructType) cast.dataType()).fieldNames()));
      Json.append(properties, "oldNames", Json.list(((StructType) before).fieldNames()));
    }
  }

  public static String columns(scala.collection.Seq output) {
    StringBuilder list = new StringBuilder("[");
    scala.collection.Iterator items = output.iterator();
    while (items.hasNext()) {
      Attribute column = (Attribute) items.next();
      long id = column.resolved() || column instanceof AttributeReference ? column.exprId().id() : -1;
      String type = column.resolved() ? type(column.dataType()) : "null";
      list.append(list.length() == 1 ? "" : ",").append("[").append(id).append(",").append(Json.quote(column.name()))
        .append(",").append(type).append("]");
    }
    return list.append("]").toString();
  }

  /** The columns of the table that Delta's CLONE copies: the command itself has its figures as its output. */
  private static String clonedColumns(LogicalPlan clone) {
    Object schema = Reflect.call(field(clone, "sourceTable"), "schema");
    StructField[] fields = schema instanceof StructType ? ((StructType) schema).fields() : new StructField[0];
    StringBuilder list = new StringBuilder("[");
    for (int i = 0; i < fields.length; i++) {
      list.append(i == 0 ? "" : ",").append("[").append(-2 - i).append(",").append(Json.quote(fields[i].name()))
        .append(",").append(type(fields[i].dataType())).append("]");
    }
    return list.append("]").toString();
  }

  private static String type(DataType type) {
    if (type instanceof StructType || type instanceof org.apache.spark.sql.types.ArrayType
        || type instanceof org.apache.spark.sql.types.MapType) {
      return type.json();
    }
    return Json.quote(type.catalogString());
  }

  // JSON

  private int add(String name, String properties, String nodes) {
    out.append(count == 0 ? "" : ",").append("[").append(Json.quote(name)).append(",{").append(properties).append("},{")
      .append(nodes).append("}]");
    if (out.length() > maxCharacters) {
      throw new LimitExceeded("the plan has more than " + maxCharacters + " characters of JSON");
    }
    if ((count & 255) == 0 && System.nanoTime() > deadline) {
      throw new LimitExceeded("the plan could not be written within the time budget");
    }
    return count++;
  }

  public static Object field(TreeNode node, String name) {
    for (int i = 0; i < node.productArity(); i++) {
      if (node.productElementName(i).equals(name)) {
        Object value = node.productElement(i);
        return value instanceof scala.Option
          ? (((scala.Option) value).isEmpty() ? null : ((scala.Option) value).get()) : value;
      }
    }
    return null;
  }
}
