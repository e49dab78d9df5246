package lineage.spark;

/** Pieces of JSON text. */
public final class Json {
  public static String className(Object value) {
    String name = value.getClass().getName();
    int end = name.endsWith("$") ? name.length() - 1 : name.length();
    int start = Math.max(name.lastIndexOf('.', end - 1), name.lastIndexOf('$', end - 1)) + 1;
    return name.startsWith("org.apache.spark.") ? name.substring(start, end) : name.substring(0, end);
  }

  public static void append(StringBuilder object, String name, String json) {
    if (json != null && !json.equals("null")) {
      object.append(object.length() == 0 ? "" : ",").append(quote(name)).append(":").append(json);
    }
  }

  public static String text(Object value) {
    return value == null ? null : quote(String.valueOf(value));
  }

  public static String list(Object[] values) {
    StringBuilder list = new StringBuilder("[");
    for (int i = 0; i < values.length; i++) {
      list.append(i == 0 ? "" : ",").append(values[i] == null ? "null" : quote(String.valueOf(values[i])));
    }
    return list.append("]").toString();
  }

  public static String quote(String text) {
    StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < 0x20 || (c >= 0xD800 && c <= 0xDFFF) || c == 0x2028 || c == 0x2029) {
        String hex = Integer.toHexString(c);
        quoted.append("\\u").append("0000".substring(hex.length())).append(hex);
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
