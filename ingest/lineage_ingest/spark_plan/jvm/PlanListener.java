package lineage.spark;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

/**
 * Takes the plans of executions off Spark's listener thread, and sends them to the Python driver over loopback.
 *
 * The callback only puts a reference into a bounded queue. A thread of our own writes the JSON.
 */
public final class PlanListener extends SparkListener implements Runnable {
  private static final int MAX_STARTED = 10000;
  /** What Spark calls the executions that give rows to the program. */
  private static final Set COLLECTS = new HashSet(Arrays.asList(new Object[] {
    "collect", "collectAsList", "collectToPython", "collectAsArrowToPython", "collectAsArrowToR", "toLocalIterator",
    "head", "take", "tail", "count", "isEmpty", "reduce",
  }));

  private final ArrayBlockingQueue queue;
  private final Thread thread;
  private final Socket socket;
  private final DataOutputStream stream;
  private final int maxCharacters;
  private final long budgetNanos;
  private final AtomicLong lost = new AtomicLong();
  private final AtomicLong pending = new AtomicLong();
  private final LinkedHashMap started = new LinkedHashMap();
  private final LinkedHashMap roots = new LinkedHashMap();
  private final LinkedHashMap streams = new LinkedHashMap();
  private volatile boolean enabled = true;

  public PlanListener(int port, String token, int capacity, int maxCharacters, long budgetMillis) throws Exception {
    this.queue = new ArrayBlockingQueue(capacity);
    this.maxCharacters = maxCharacters;
    this.budgetNanos = budgetMillis * 1000000L;
    this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
    this.socket.setTcpNoDelay(true);
    this.stream = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 16));
    send(token);
    // Deep plans need a deep stack.
    this.thread = new Thread(null, this, "lineage-plans", 1L << 28);
    this.thread.setDaemon(true);
    this.thread.start();
  }

  public void onOtherEvent(SparkListenerEvent event) {
    if (!enabled) {
      return;
    }
    try {
      if (event instanceof SparkListenerSQLExecutionStart) {
        SparkListenerSQLExecutionStart start = (SparkListenerSQLExecutionStart) event;
        Object root = Reflect.option(start, "rootExecutionId");
        long rootId = root instanceof Long ? ((Long) root).longValue() : start.executionId();
        if (started.size() >= MAX_STARTED) {
          started.remove(started.keySet().iterator().next());
        }
        started.put(Long.valueOf(start.executionId()), new long[] {rootId, start.time()});
      } else if (event instanceof SparkListenerSQLExecutionEnd) {
        ended((SparkListenerSQLExecutionEnd) event);
      }
    } catch (Throwable problem) {
      lost.incrementAndGet();
    }
  }

  private void ended(SparkListenerSQLExecutionEnd end) {
    long[] start = (long[]) started.remove(Long.valueOf(end.executionId()));
    QueryExecution execution = (QueryExecution) Reflect.call(end, "qe");
    if (execution == null) {
      return;
    }
    Object name = Reflect.option(end, "executionName");
    Object failure = Reflect.option(end, "executionFailure");
    Ended item = new Ended();
    item.id = end.executionId();
    item.root = start == null ? item.id : start[0];
    item.begin = start == null ? end.time() : start[1];
    item.end = end.time();
    item.function = name == null ? null : String.valueOf(name);
    item.failure = failure == null ? null : failure.getClass().getName();
    item.isInterrupted = isInterrupt(failure);
    if (failure == null && !Reflect.text(end, "errorMessage").isEmpty()) {
      item.failure = "error";
    }
    LogicalPlan plan = null;
    try {
      plan = execution.analyzed();
    } catch (Throwable unresolved) {
      return; // nothing ran
    }
    Object run = Reflect.call(execution, "runId");
    if (run != null && execution.getClass().getSimpleName().equals("IncrementalExecution")) {
      item.run = String.valueOf(run);
      item.isRepeated = streams.put(item.run, Boolean.TRUE) != null;
      if (streams.size() > MAX_STARTED) {
        streams.remove(streams.keySet().iterator().next());
      }
    }
    boolean isRootOfOthers = item.root == item.id && roots.remove(Long.valueOf(item.id)) != null;
    item.isIterated = "toLocalIterator".equals(item.function);
    item.isCollected = COLLECTS.contains(item.function);
    boolean isFrame = "checkpoint".equals(item.function) || "localCheckpoint".equals(item.function) || item.isIterated;
    boolean isWrite = isCommand(plan) || item.run != null;
    if (!isWrite && !isFrame && !isRootOfOthers && !item.isCollected) {
      return;
    }
    if (isWrite || isFrame) {
      item.isIterated = item.isIterated && !isWrite;
      item.plan = item.isRepeated ? null : plan;
      item.sql = isCommand(plan) ? sqlText(execution) : null;
    }
    if (item.root != item.id) {
      if (roots.size() >= MAX_STARTED) {
        roots.remove(roots.keySet().iterator().next());
      }
      roots.put(Long.valueOf(item.root), Boolean.TRUE);
    }
    pending.incrementAndGet();
    if (!queue.offer(item)) {
      pending.decrementAndGet();
      lost.incrementAndGet();
    }
  }

  /** Whether an execution failed because it was told to stop. */
  private static boolean isInterrupt(Object failure) {
    Object cause = failure;
    for (int depth = 0; cause instanceof Throwable && depth < 20; depth++) {
      if (cause instanceof InterruptedException || cause instanceof java.io.InterruptedIOException
          || cause instanceof java.nio.channels.ClosedByInterruptException
          || String.valueOf(Reflect.call(cause, "getCondition")).equals("SPARK_JOB_CANCELLED")) {
        return true;
      }
      cause = ((Throwable) cause).getCause();
    }
    return false;
  }

  /** Whether a plan is a command, or several: INSERT into several tables. */
  private static boolean isCommand(LogicalPlan plan) {
    return plan instanceof Command
      || (plan instanceof Union && !plan.children().isEmpty() && plan.children().head() instanceof Command);
  }

  private static String sqlText(QueryExecution execution) {
    Object text = Reflect.option(execution.logical().origin(), "sqlText");
    return text == null ? null : String.valueOf(text);
  }

  /** Writes what the queue holds, until the thread is interrupted. */
  public void run() {
    while (true) {
      Ended item = null;
      try {
        item = (Ended) queue.take();
        send(item.toJson(maxCharacters, budgetNanos, lost.getAndSet(0)));
      } catch (InterruptedException stop) {
        return;
      } catch (java.io.IOException gone) {
        enabled = false;
        return;
      } catch (Throwable problem) {
        lost.incrementAndGet();
      } finally {
        if (item != null) {
          pending.decrementAndGet();
        }
      }
    }
  }

  private synchronized void send(String text) throws java.io.IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    stream.writeInt(bytes.length);
    stream.write(bytes);
    stream.flush();
  }

  /** Waits until everything queued is sent, at most so long; returns whether it was, and sends a mark. */
  public boolean flush(String mark, long millis) throws Exception {
    long until = System.currentTimeMillis() + millis;
    while (pending.get() > 0 && System.currentTimeMillis() < until && enabled) {
      Thread.sleep(2L);
    }
    if (enabled) {
      send("{\"mark\":" + Json.quote(mark) + ",\"lost\":" + lost.getAndSet(0) + "}");
    }
    return pending.get() == 0;
  }

  /** Stops listening. The listener may stay registered: it does nothing any more. */
  public void close() {
    enabled = false;
    thread.interrupt();
    try {
      socket.close();
    } catch (java.io.IOException closed) {
      return;
    }
  }
}
