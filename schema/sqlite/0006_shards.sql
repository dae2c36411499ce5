-- Tasks that are broadcast have an instance for each host at a due time; shards is
-- how many, 0 for all others.
ALTER TABLE ax_instance ADD COLUMN shards INTEGER NOT NULL DEFAULT 0;

DROP VIEW ax_instance_v;
CREATE VIEW ax_instance_v AS SELECT
  id, app, task_id, task_name,
  datetime(scheduled_at / 1000000, 'unixepoch') || printf('.%06d', scheduled_at % 1000000) AS scheduled_at,
  kind, shard, shards, status, attempt, fence, owner, node, reason, missed,
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
