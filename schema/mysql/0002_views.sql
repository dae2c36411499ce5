-- The tables with readable times (UTC, microseconds), for people who open the
-- database and look. The program itself does not read them. Whoever reads a view
-- needs the right to read its table: accounts come and go, views stay.

CREATE SQL SECURITY INVOKER VIEW ax_task_v AS SELECT
  id, app, name, bucket, owner, fence, definition, source, enabled,
  TIMESTAMPADD(MICROSECOND, next_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS next_at,
  TIMESTAMPADD(MICROSECOND, prev_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS prev_at,
  planned, plan_version, plan_done,
  TIMESTAMPADD(MICROSECOND, anchor_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS anchor_at,
  paused,
  TIMESTAMPADD(MICROSECOND, paused_until, TIMESTAMP('1970-01-01 00:00:00.000000')) AS paused_until,
  parked, failures, revision, changed,
  TIMESTAMPADD(MICROSECOND, created_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS created_at,
  created_by,
  TIMESTAMPADD(MICROSECOND, updated_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS updated_at,
  updated_by
FROM ax_task WHERE deleted_at IS NULL;

CREATE SQL SECURITY INVOKER VIEW ax_instance_v AS SELECT
  id, app, task_id, task_name,
  TIMESTAMPADD(MICROSECOND, scheduled_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS scheduled_at,
  kind, shard, status, attempt, fence, owner, node, reason, missed,
  TIMESTAMPADD(MICROSECOND, missed_until, TIMESTAMP('1970-01-01 00:00:00.000000')) AS missed_until,
  trace_id, params, params_bound,
  TIMESTAMPADD(MICROSECOND, created_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS created_at,
  TIMESTAMPADD(MICROSECOND, started_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS started_at,
  TIMESTAMPADD(MICROSECOND, ended_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS ended_at,
  TIMESTAMPADD(MICROSECOND, retry_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS retry_at,
  deferred, callback_hash,
  TIMESTAMPADD(MICROSECOND, deadline_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS deadline_at,
  message, error, data
FROM ax_instance;

CREATE SQL SECURITY INVOKER VIEW ax_log_v AS SELECT
  id, instance_id, task_id,
  TIMESTAMPADD(MICROSECOND, at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS at,
  attempt, stage, level, node, text
FROM ax_log;

CREATE SQL SECURITY INVOKER VIEW ax_node_v AS SELECT
  incarnation, name, app, slot, address, cluster, version, pid,
  TIMESTAMPADD(MICROSECOND, started_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS started_at,
  TIMESTAMPADD(MICROSECOND, beat_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS beat_at,
  draining, figures
FROM ax_node;

CREATE SQL SECURITY INVOKER VIEW ax_alert_v AS SELECT
  id, app, task_id, notifier, event, state,
  TIMESTAMPADD(MICROSECOND, window_start, TIMESTAMP('1970-01-01 00:00:00.000000')) AS window_start,
  TIMESTAMPADD(MICROSECOND, window_end, TIMESTAMP('1970-01-01 00:00:00.000000')) AS window_end,
  count,
  TIMESTAMPADD(MICROSECOND, first_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS first_at,
  TIMESTAMPADD(MICROSECOND, last_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS last_at,
  payload, attempts,
  TIMESTAMPADD(MICROSECOND, next_try_at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS next_try_at,
  last_error
FROM ax_alert;

CREATE SQL SECURITY INVOKER VIEW ax_audit_v AS SELECT
  id,
  TIMESTAMPADD(MICROSECOND, at, TIMESTAMP('1970-01-01 00:00:00.000000')) AS at,
  app, actor, action, object, detail
FROM ax_audit;
