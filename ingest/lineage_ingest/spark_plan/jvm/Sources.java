package lineage.spark;

import java.util.Map;

/** What relations, streams and sinks read and write, by reflection: their classes differ between versions. */
public final class Sources {
  private static final int MAX_PATHS = 64;
  private static final int MAX_RDDS = 200;

  public static String relation(Object relation) {
    StringBuilder found = new StringBuilder();
    Json.append(found, "class", Json.text(Json.className(relation)));
    Object location = Reflect.call(relation, "location");
    if (location != null) {
      paths(Reflect.call(location, "rootPaths"), found);
      Json.append(found, "format", Json.text(Reflect.call(relation, "fileFormat")));
      Object options = Reflect.call(relation, "options");
      if (options instanceof scala.collection.Map) {
        scala.Option base = ((scala.collection.Map) options).get("basepath");
        if (base.isEmpty()) {
          base = ((scala.collection.Map) options).get("basePath");
        }
        if (!base.isEmpty()) {
          Json.append(found, "basePath", Json.text(base.get()));
        }
      }
    }
    Object jdbc = Reflect.call(relation, "jdbcOptions");
    if (jdbc != null) {
      Json.append(found, "url", Json.text(Reflect.call(jdbc, "url")));
      Json.append(found, "tableOrQuery", Json.text(Reflect.call(jdbc, "tableOrQuery")));
    }
    if (relation.getClass().getSimpleName().equals("KafkaRelation")) {
      topics(relation, found);
    }
    return "{" + found + "}";
  }

  /** The topics of a batch that is read from Kafka, which has its options in fields of its own only. */
  private static void topics(Object relation, StringBuilder found) {
    Object settings = Reflect.field(relation, "specifiedKafkaParams");
    if (settings instanceof scala.collection.Map) {
      scala.Option servers = ((scala.collection.Map) settings).get("bootstrap.servers");
      Json.append(found, "servers", servers.isEmpty() ? null : Json.text(servers.get()));
    }
    Object strategy = Reflect.field(relation, "strategy");
    java.util.LinkedHashSet names = new java.util.LinkedHashSet();
    Object listed = Reflect.call(strategy, "topics");
    Object partitions = Reflect.call(strategy, "partitions");
    Object pattern = Reflect.call(strategy, "topicPattern");
    if (listed instanceof scala.collection.Iterable) {
      scala.collection.Iterator items = ((scala.collection.Iterable) listed).iterator();
      while (items.hasNext()) {
        names.add(items.next());
      }
    }
    for (int i = 0; partitions instanceof Object[] && i < ((Object[]) partitions).length; i++) {
      names.add(Reflect.call(((Object[]) partitions)[i], "topic"));
    }
    if (pattern != null) {
      names.add(pattern);
    }
    Json.append(found, "topics", names.isEmpty() ? null : Json.list(names.toArray()));
  }

  public static String stream(Object source) {
    StringBuilder found = new StringBuilder();
    if (source != null) {
      Json.append(found, "class", Json.text(Json.className(source)));
      Json.append(found, "description", Json.text(source));
      paths(Reflect.call(source, "paths"), found);
    }
    return "{" + found + "}";
  }

  public static String sink(Object sink) {
    StringBuilder found = new StringBuilder();
    if (sink != null) {
      Json.append(found, "class", Json.text(Json.className(sink)));
      Json.append(found, "path", Json.text(Reflect.field(sink, "path")));
      Json.append(found, "topic", Json.text(Reflect.option(sink, "topic")));
      Json.append(found, "name", Json.text(Reflect.call(sink, "name")));
    }
    return "{" + found + "}";
  }

  public static String table(org.apache.spark.sql.connector.catalog.Table table) {
    Object inner = Reflect.call(table, "table");
    if (Json.className(table).equals("RowLevelOperationTable") && inner instanceof org.apache.spark.sql.connector.catalog.Table) {
      return table((org.apache.spark.sql.connector.catalog.Table) inner);
    }
    StringBuilder found = new StringBuilder();
    Json.append(found, "class", Json.text(Json.className(table)));
    Json.append(found, "name", Json.text(table.name()));
    Map properties = table.properties();
    // Iceberg's tables of snapshots, files and the like have the location of the table that they describe.
    boolean isMetadata = inner != null && inner.getClass().getSuperclass().getSimpleName().equals("BaseMetadataTable");
    if (properties != null && !isMetadata) {
      Json.append(found, "location", Json.text(properties.get("location")));
      Json.append(found, "provider", Json.text(properties.get("provider")));
    }
    Object v1 = Reflect.call(table, "v1Table");
    if (v1 != null) {
      Json.append(found, "location", Json.text(
        Reflect.option(Reflect.call(v1, "storage"), "locationUri")));
    }
    Object jdbc = Reflect.call(table, "jdbcOptions");
    if (jdbc != null) {
      Json.append(found, "url", Json.text(Reflect.call(jdbc, "url")));
    }
    paths(Reflect.call(table, "paths"), found);
    return "{" + found + "}";
  }

  /** Whether an RDD is of local data only, and the paths of the files at its start: without computing anything. */
  public static void rdd(Object rdd, StringBuilder properties) {
    Object id = rdd == null ? null : Reflect.call(rdd, "id");
    Json.append(properties, "rdd", id == null ? null : String.valueOf(id));
    java.util.ArrayDeque open = new java.util.ArrayDeque();
    java.util.IdentityHashMap met = new java.util.IdentityHashMap();
    java.util.LinkedHashSet paths = new java.util.LinkedHashSet();
    boolean isLocal = rdd != null;
    if (rdd != null) {
      open.add(rdd);
    }
    while (!open.isEmpty() && met.size() < MAX_RDDS) {
      Object one = open.poll();
      if (met.put(one, Boolean.TRUE) != null) {
        continue;
      }
      scala.collection.Seq dependencies = (scala.collection.Seq) Reflect.call(one, "dependencies");
      if (dependencies != null && !dependencies.isEmpty()) {
        scala.collection.Iterator items = dependencies.iterator();
        while (items.hasNext()) {
          Object parent = Reflect.call(items.next(), "rdd");
          if (parent != null) {
            open.add(parent);
          }
        }
      } else if (!one.getClass().getSimpleName().equals("ParallelCollectionRDD")) {
        isLocal = false;
        files(one, paths);
      }
    }
    Json.append(properties, "isLocal", isLocal && open.isEmpty() ? "true" : null);
    if (!paths.isEmpty()) {
      Json.append(properties, "paths", Json.list(paths.toArray()));
    }
  }

  /** The folders of the files that a scan reads: it has listed them already. */
  private static void files(Object rdd, java.util.Set paths) {
    Object partitions = Reflect.call(rdd, "filePartitions");
    if (!(partitions instanceof scala.collection.Seq)) {
      return;
    }
    scala.collection.Iterator items = ((scala.collection.Seq) partitions).iterator();
    while (items.hasNext() && paths.size() < MAX_PATHS) {
      Object files = Reflect.call(items.next(), "files");
      for (int i = 0; files instanceof Object[] && i < ((Object[]) files).length; i++) {
        String path = String.valueOf(Reflect.call(((Object[]) files)[i], "filePath"));
        paths.add(path.substring(0, Math.max(0, path.lastIndexOf('/'))));
      }
    }
  }

  private static void paths(Object paths, StringBuilder found) {
    if (!(paths instanceof scala.collection.Seq)) {
      return;
    }
    scala.collection.Iterator items = ((scala.collection.Seq) paths).iterator();
    StringBuilder list = new StringBuilder("[");
    int count = 0;
    while (items.hasNext()) {
      Object path = items.next();
      if (count < MAX_PATHS) {
        list.append(count == 0 ? "" : ",").append(Json.quote(String.valueOf(path)));
      }
      count++;
    }
    Json.append(found, "paths", list.append("]").toString());
    Json.append(found, "pathCount", String.valueOf(count));
  }
}
