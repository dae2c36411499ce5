package pluginhost

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// Spec says which component to use and with what. It is not changed once a
// handle was made of it.
type Spec struct {
	// Use is the component's "name", or "plugin/name".
	Use string
	// Settings is a JSON object, or empty for none.
	Settings json.RawMessage
	// Zone is the task's zone; nil means UTC.
	Zone *time.Location
	// Seed is the same for a task on every host.
	Seed uint64
	// Calendars are those that the component may ask for by name.
	Calendars []*calendar.Calendar
}

// handle is what all kinds of handles have in common: a spec of a kind of
// component, looked up anew at each use.
type handle struct {
	host *Host
	kind pluginapi.Kind
	spec Spec
	// base is a hash of everything but the component's name, which is known
	// only at the time of use.
	base [sha256.Size]byte
}

func (h *Host) handle(kind pluginapi.Kind, spec Spec) handle {
	if spec.Zone == nil {
		spec.Zone = time.UTC
	}
	if len(spec.Settings) == 0 {
		spec.Settings = json.RawMessage("{}")
	}
	sum := sha256.New()
	part := func(b []byte) {
		sum.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		sum.Write(b)
	}
	part([]byte(kind))
	part(spec.Settings)
	part([]byte(spec.Zone.String()))
	part(binary.BigEndian.AppendUint64(nil, spec.Seed))
	for _, c := range spec.Calendars {
		part([]byte(c.Hash()))
	}
	hd := handle{host: h, kind: kind, spec: spec}
	sum.Sum(hd.base[:0])
	return hd
}

// wanted is a spec for a certain component, as a process is asked for it.
type wanted struct {
	handle    handle
	component string
	id        string // a hash of the content, so equal specs are one
}

func (hd handle) wanted(component string) wanted {
	sum := sha256.Sum256(append(hd.base[:], component...))
	return wanted{handle: hd, component: component, id: hex.EncodeToString(sum[:16])}
}

// message is the spec for the wire.
func (w wanted) message() *pb.Spec {
	hashes := make([]string, 0, len(w.handle.spec.Calendars))
	for _, c := range w.handle.spec.Calendars {
		hashes = append(hashes, c.Hash())
	}
	return &pb.Spec{
		Id: w.id, Kind: string(w.handle.kind), Component: w.component,
		Settings: w.handle.spec.Settings, Zone: w.handle.spec.Zone.String(),
		Seed: w.handle.spec.Seed, Calendars: slices.Compact(hashes),
	}
}
