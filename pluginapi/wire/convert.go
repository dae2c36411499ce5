package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/axsched/ax/pluginapi"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// EncodeTime returns t in microseconds since 1970; finer parts are cut off.
func EncodeTime(t time.Time) int64 { return t.UnixMicro() }

// DecodeTime is the opposite of [EncodeTime]. A nil zone means UTC.
func DecodeTime(micros int64, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMicro(micros).In(zone)
}

// decodeDeadline reads a deadline; 0 means that there is none.
func decodeDeadline(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return DecodeTime(micros, nil)
}

// EncodeFire fails if the parameters have no JSON form, or if the due time is
// in time.Local, which means nothing on another host.
func EncodeFire(f pluginapi.Fire) (*pb.Fire, error) {
	if f.ScheduledAt.Location() == time.Local {
		return nil, errors.New("encode due time: it is in time.Local instead of a named zone")
	}
	params, err := EncodeObject(f.Params)
	if err != nil {
		return nil, fmt.Errorf("encode params: %w", err)
	}
	return &pb.Fire{
		App: f.App, Task: f.Task, InstanceId: f.InstanceID, Kind: f.Kind,
		Attempt: uint32(max(f.Attempt, 0)), MaxAttempts: uint32(max(f.MaxAttempts, 0)),
		ScheduledAt: EncodeTime(f.ScheduledAt), Zone: f.ScheduledAt.Location().String(),
		TraceId: f.TraceID, Node: f.Node, Params: params, Fence: f.Fence,
		Shard: uint32(max(f.Shard, 0)), Shards: uint32(max(f.Shards, 0)),
	}, nil
}

// decodeFire is the opposite of [EncodeFire]. It fails on an unknown zone and
// on params that are not a JSON object.
func decodeFire(in *pb.Fire, load func(zone string) (*time.Location, error)) (pluginapi.Fire, error) {
	zone, err := load(in.GetZone())
	if err != nil {
		return pluginapi.Fire{}, err
	}
	params, err := DecodeObject(in.GetParams())
	if err != nil {
		return pluginapi.Fire{}, fmt.Errorf("decode params: %w", err)
	}
	return pluginapi.Fire{
		App: in.GetApp(), Task: in.GetTask(), InstanceID: in.GetInstanceId(), Kind: in.GetKind(),
		Attempt: int(in.GetAttempt()), MaxAttempts: int(in.GetMaxAttempts()),
		ScheduledAt: DecodeTime(in.GetScheduledAt(), zone),
		TraceID:     in.GetTraceId(), Node: in.GetNode(), Params: params, Fence: in.GetFence(),
		Shard: int(in.GetShard()), Shards: int(in.GetShards()),
	}, nil
}

// loadZone loads a zone by its IANA name; an empty one is UTC.
func loadZone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errors.New(`time zone "Local" means nothing here: want an IANA name`)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("load time zone %q: %w", name, err)
	}
	return zone, nil
}

// EncodeObject writes a JSON object; nil gives no bytes.
func EncodeObject(object map[string]any) ([]byte, error) {
	if object == nil {
		return nil, nil
	}
	return json.Marshal(object)
}

// DecodeObject reads a JSON object; no bytes give nil. Whole numbers become
// int64, so that large ids keep their digits and print without an exponent,
// other numbers float64.
func DecodeObject(raw []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil, fmt.Errorf("decode JSON object: %w", err)
	}
	for key, value := range object {
		object[key] = plainNumbers(value)
	}
	return object, nil
}

func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String() // too large for either
	case map[string]any:
		for key, elem := range v {
			v[key] = plainNumbers(elem)
		}
	case []any:
		for i, elem := range v {
			v[i] = plainNumbers(elem)
		}
	}
	return value
}
