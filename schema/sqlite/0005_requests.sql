-- Keys that clients send with a request, so that it is done once however often it
-- arrives. They are kept for a day.
CREATE TABLE ax_request (
  app         TEXT    NOT NULL,
  request_key TEXT    NOT NULL,
  digest      TEXT    NOT NULL,               -- of what was asked for
  instance_id INTEGER NOT NULL,               -- what came of it
  at          INTEGER NOT NULL,
  PRIMARY KEY (app, request_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX ax_request_at ON ax_request (app, at);

CREATE VIEW ax_request_v AS SELECT
  app, request_key, digest, instance_id,
  datetime(at / 1000000, 'unixepoch') || printf('.%06d', at % 1000000) AS at
FROM ax_request;
