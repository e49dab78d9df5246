package lineage.spark;

/** Calls of methods that not every version or class has. */
public final class Reflect {
  public static Object call(Object target, String name) {
    if (target == null) {
      return null;
    }
    try {
      java.lang.reflect.Method method = target.getClass().getMethod(name, new Class[0]);
      method.setAccessible(true);
      return method.invoke(target, new Object[0]);
    } catch (Throwable missing) {
      return null;
    }
  }

  public static Object option(Object target, String name) {
    Object value = call(target, name);
    if (value instanceof scala.Option) {
      scala.Option option = (scala.Option) value;
      return option.isEmpty() ? null : option.get();
    }
    return value;
  }

  public static String text(Object target, String name) {
    Object value = option(target, name);
    return value == null ? "" : String.valueOf(value);
  }

  public static Object field(Object target, String name) {
    Class type = target.getClass();
    while (type != null) {
      try {
        java.lang.reflect.Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(target);
      } catch (Throwable missing) {
        type = type.getSuperclass();
      }
    }
    return null;
  }
}
