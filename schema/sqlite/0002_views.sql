-- The tables with readable times (UTC, microseconds), for people who open the
-- database and look. The program itself does not read them.

CREATE VIEW ax_task_v AS SELECT
  id, app, name, bucket, definition, source, enabled,
  datetime(next_at / 1000000, 'unixepoch') || printf('.%06d', next_at % 1000000) AS next_at,
  datetime(prev_at / 1000000, 'unixepoch') || printf('.%06d', prev_at % 1000000) AS prev_at,
  planned, plan_version, plan_done,
  datetime(anchor_at / 1000000, 'unixepoch') || printf('.%06d', anchor_at % 1000000) AS anchor_at,
  paused,
  datetime(paused_until / 1000000, 'unixepoch') || printf('.%06d', paused_until % 1000000) AS paused_until,
  parked, failures, revision,
  datetime(created_at / 1000000, 'unixepoch') || printf('.%06d', created_at % 1000000) AS created_at,
  created_by,
  datetime(updated_at / 1000000, 'unixepoch') || printf('.%06d', updated_at % 1000000) AS updated_at,
  updated_by
FROM ax_task WHERE deleted_at IS NULL;

CREATE VIEW ax_instance_v AS SELECT
  id, app, task_id, task_name,
  datetime(scheduled_at / 1000000, 'unixepoch') || printf('.%06d', scheduled_at % 1000000) AS scheduled_at,
  kind, shard, status, attempt, fence, owner, node, reason, missed,
  datetime(missed_until / 1000000, 'unixepoch') || printf('.%06d', missed_until % 1000000) AS missed_until,
  trace_id, params, params_bound,
  datetime(created_at / 1000000, 'unixepoch') || printf('.%06d', created_at % 1000000) AS created_at,
  datetime(started_at / 1000000, 'unixepoch') || printf('.%06d', started_at % 1000000) AS started_at,
  datetime(ended_at / 1000000, 'unixepoch') || printf('.%06d', ended_at % 1000000) AS ended_at,
  datetime(retry_at / 1000000, 'unixepoch') || printf('.%06d', retry_at % 1000000) AS retry_at,
  deferred, callback_hash,
  datetime(deadline_at / 1000000, 'unixepoch') || printf('.%06d', deadline_at % 1000000) AS deadline_at,
  message, error, data
FROM ax_instance;

CREATE VIEW ax_log_v AS SELECT
  id, instance_id, task_id,
  datetime(at / 1000000, 'unixepoch') || printf('.%06d', at % 1000000) AS at,
  attempt, stage, level, node, text
FROM ax_log;

CREATE VIEW ax_node_v AS SELECT
  incarnation, name, app, address, version, pid,
  datetime(started_at / 1000000, 'unixepoch') || printf('.%06d', started_at % 1000000) AS started_at,
  datetime(beat_at / 1000000, 'unixepoch') || printf('.%06d', beat_at % 1000000) AS beat_at,
  draining
FROM ax_node;

CREATE VIEW ax_alert_v AS SELECT
  id, app, task_id, notifier, event, state,
  datetime(window_start / 1000000, 'unixepoch') || printf('.%06d', window_start % 1000000) AS window_start,
  datetime(window_end / 1000000, 'unixepoch') || printf('.%06d', window_end % 1000000) AS window_end,
  count,
  datetime(first_at / 1000000, 'unixepoch') || printf('.%06d', first_at % 1000000) AS first_at,
  datetime(last_at / 1000000, 'unixepoch') || printf('.%06d', last_at % 1000000) AS last_at,
  payload, attempts,
  datetime(next_try_at / 1000000, 'unixepoch') || printf('.%06d', next_try_at % 1000000) AS next_try_at,
  last_error
FROM ax_alert;

CREATE VIEW ax_audit_v AS SELECT
  id,
  datetime(at / 1000000, 'unixepoch') || printf('.%06d', at % 1000000) AS at,
  app, actor, action, object, detail
FROM ax_audit;
