package wire

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/calendar"
	pb "github.com/axsched/ax/pluginapi/proto/ax/plugin/v1"
)

// specs keeps what Prepare made: components by spec id, and the calendars and
// zones that they share.
type specs struct {
	components map[componentKey]pluginapi.Component

	mu        sync.Mutex
	byID      map[string]*spec
	calendars map[string]namedCalendar // by hash
	zones     map[string]*time.Location
}

type componentKey struct {
	kind pluginapi.Kind
	name string
}

type namedCalendar struct {
	name string
	*calendar.Calendar
}

// spec is one prepared component. It lives until it is released and the last
// call that uses it has ended.
type spec struct {
	kind      pluginapi.Kind
	component string
	zone      *time.Location

	build sync.Mutex // held while value is built, so that it is built once
	value any        // nil until built
	err   error      // set if building failed and the spec left the table

	uses     int // guarded by specs.mu
	released bool
}

func newSpecs(components []pluginapi.Component) *specs {
	s := &specs{
		components: make(map[componentKey]pluginapi.Component, len(components)),
		byID:       map[string]*spec{},
		calendars:  map[string]namedCalendar{},
		zones:      map[string]*time.Location{},
	}
	for _, c := range components {
		s.components[componentKey{c.Kind, c.Name}] = c
	}
	return s
}

// addCalendar keeps a calendar for the specs that name its hash.
func (s *specs) addCalendar(data *pb.CalendarData) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.calendars[data.GetHash()]; ok {
		return nil
	}
	cal, err := calendar.Unmarshal(data.GetData())
	if err != nil {
		return fmt.Errorf("calendar %q: %w", data.GetName(), err)
	}
	if cal.Hash() != data.GetHash() {
		return fmt.Errorf("calendar %q: its hash is %s, not %s", data.GetName(), cal.Hash(), data.GetHash())
	}
	s.calendars[data.GetHash()] = namedCalendar{data.GetName(), cal}
	return nil
}

// prepare makes the component of a spec unless it is there already.
func (s *specs) prepare(in *pb.Spec, log *slog.Logger) error {
	if in.GetId() == "" {
		return problem(pb.Problem_INVALID, "the spec has no id")
	}
	s.mu.Lock()
	sp, ok := s.byID[in.GetId()]
	if !ok {
		sp = &spec{kind: pluginapi.Kind(in.GetKind()), component: in.GetComponent()}
		s.byID[in.GetId()] = sp
	}
	s.mu.Unlock()

	sp.build.Lock()
	defer sp.build.Unlock()
	if sp.value != nil || sp.err != nil {
		return sp.err
	}
	if sp.err = s.make(sp, in, log); sp.err != nil {
		s.forget(in.GetId(), sp)
	}
	return sp.err
}

// make builds sp.value; a failure is a problem that names its kind.
func (s *specs) make(sp *spec, in *pb.Spec, log *slog.Logger) error {
	c, ok := s.components[componentKey{sp.kind, sp.component}]
	if !ok {
		return problem(pb.Problem_INVALID, fmt.Sprintf("there is no %s named %q", sp.kind, sp.component))
	}
	env, err := s.env(in, log.With("component", sp.component))
	if err != nil {
		return err
	}
	var value any
	err = guard(func() (err error) {
		value, err = c.Build(in.GetSettings(), env)
		return err
	})
	if p, ok := errors.AsType[*ProblemError](err); ok {
		return p // a panic
	}
	if err != nil {
		return problem(pb.Problem_INVALID, err.Error())
	}
	if !implements(sp.kind, value) {
		return problem(pb.Problem_INTERNAL, fmt.Sprintf("%s %q was built as a %T", sp.kind, sp.component, value))
	}
	s.mu.Lock()
	sp.value, sp.zone = value, env.Zone
	released := sp.released
	s.mu.Unlock()
	if released { // while it was built
		return errors.Join(problem(pb.Problem_UNKNOWN_SPEC, "the spec was released"), sp.close())
	}
	return nil
}

func implements(kind pluginapi.Kind, value any) (ok bool) {
	switch kind {
	case pluginapi.KindTrigger:
		_, ok = value.(pluginapi.Trigger)
	case pluginapi.KindJob:
		_, ok = value.(pluginapi.Job)
	case pluginapi.KindNotifier:
		_, ok = value.(pluginapi.Notifier)
	case pluginapi.KindParams:
		_, ok = value.(pluginapi.ParamProvider)
	case pluginapi.KindListener:
		_, ok = value.(pluginapi.Listener)
	}
	return ok
}

func (s *specs) env(in *pb.Spec, log *slog.Logger) (pluginapi.Env, error) {
	zone, err := s.zone(in.GetZone())
	if err != nil {
		return pluginapi.Env{}, problem(pb.Problem_INVALID, err.Error())
	}
	env := pluginapi.Env{Zone: zone, Seed: in.GetSeed(), Log: log, Calendars: map[string]*calendar.Calendar{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, hash := range in.GetCalendars() {
		cal, ok := s.calendars[hash]
		if !ok {
			return pluginapi.Env{}, problem(pb.Problem_UNKNOWN_SPEC, fmt.Sprintf("the calendar with hash %s was not sent", hash))
		}
		env.Calendars[cal.name] = cal.Calendar
	}
	return env, nil
}

// zone loads a time zone once: reading it takes longer than most calls.
func (s *specs) zone(name string) (*time.Location, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if zone, ok := s.zones[name]; ok {
		return zone, nil
	}
	zone, err := loadZone(name)
	if err != nil {
		return nil, err
	}
	s.zones[name] = zone
	return zone, nil
}

// forget removes sp from the table, if it is still there.
func (s *specs) forget(id string, sp *spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == sp {
		delete(s.byID, id)
	}
}

// release forgets a spec; its component is closed after its last use.
func (s *specs) release(id string) error {
	s.mu.Lock()
	sp, ok := s.byID[id]
	if !ok {
		s.mu.Unlock()
		return nil
	}
	delete(s.byID, id)
	sp.released = true
	idle := sp.uses == 0 && sp.value != nil
	s.mu.Unlock()
	if idle {
		return sp.close()
	}
	return nil
}

// use looks up a spec of the kind that goes with T and keeps it open until
// unuse.
func use[T any](s *specs, kind pluginapi.Kind, id string) (value T, sp *spec, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp, ok := s.byID[id]
	if !ok || sp.value == nil {
		return value, nil, problem(pb.Problem_UNKNOWN_SPEC, fmt.Sprintf("spec %q is not prepared", id))
	}
	value, ok = sp.value.(T)
	if !ok || sp.kind != kind {
		return value, nil, problem(pb.Problem_INVALID, fmt.Sprintf("spec %q is a %s, not a %s", id, sp.kind, kind))
	}
	sp.uses++
	return value, sp, nil
}

func (s *specs) unuse(sp *spec) error {
	s.mu.Lock()
	sp.uses--
	last := sp.uses == 0 && sp.released
	s.mu.Unlock()
	if last {
		return sp.close()
	}
	return nil
}

func (sp *spec) close() error {
	closer, ok := sp.value.(io.Closer)
	if !ok {
		return nil
	}
	if err := guard(closer.Close); err != nil {
		return fmt.Errorf("close %s %q: %w", sp.kind, sp.component, err)
	}
	return nil
}
