package lineage.spark;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** An execution that ended. */
public final class Ended {
  private static final int MIN_REDUCED = 1000000;

  public long id;
  public long root;
  public long begin;
  public long end;
  public String function;
  public String failure;
  public String run;
  public boolean isInterrupted;
  public boolean isRepeated;
  public boolean isIterated;
  public boolean isCollected;
  public String sql;
  public LogicalPlan plan;

  public String toJson(int maxCharacters, long budgetNanos, long lost) {
    StringBuilder frame = new StringBuilder();
    Json.append(frame, "id", String.valueOf(id));
    Json.append(frame, "root", String.valueOf(root));
    Json.append(frame, "begin", String.valueOf(begin));
    Json.append(frame, "end", String.valueOf(end));
    Json.append(frame, "function", Json.text(function));
    Json.append(frame, "failure", Json.text(failure));
    Json.append(frame, "interrupted", isInterrupted ? "true" : null);
    Json.append(frame, "stream", Json.text(run));
    Json.append(frame, "sql", sql == null || sql.length() > maxCharacters ? null : Json.quote(sql));
    Json.append(frame, "collected", isCollected ? "true" : null);
    Json.append(frame, "output", isIterated && plan != null ? PlanWriter.columns(plan.output()) : null);
    Json.append(frame, "lost", lost == 0 ? null : String.valueOf(lost));
    if (plan != null) {
      long begun = System.nanoTime();
      String reason = null;
      try {
        Json.append(frame, "nodes", new PlanWriter(maxCharacters, begun + budgetNanos, false).write(plan));
      } catch (PlanWriter.LimitExceeded limit) {
        reason = limit.getMessage();
      } catch (StackOverflowError deep) {
        reason = "the plan is nested too deeply";
      }
      if (reason != null) {
        Json.append(frame, "reduced", Json.quote(reason));
        try {
          long until = System.nanoTime() + budgetNanos;
          Json.append(frame, "nodes", new PlanWriter(Math.max(maxCharacters, MIN_REDUCED), until, true).write(plan));
        } catch (PlanWriter.LimitExceeded limit) {
          Json.append(frame, "unreadable", "true");
        } catch (StackOverflowError deep) {
          Json.append(frame, "unreadable", "true");
        }
      }
      Json.append(frame, "micros", String.valueOf((System.nanoTime() - begun) / 1000));
    }
    return "{" + frame + "}";
  }
}
