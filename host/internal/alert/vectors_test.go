package alert_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"
)

// vector is a line of testdata/vectors.jsonl.
type vector struct {
	ID     string
	Config struct {
		Events []vectorEvent
		Storm  *struct {
			T     time.Time
			Task  string
			Count int
		}
	}
	MaxMessages int `json:"max_messages"`
	Failures    int
}

type vectorEvent struct {
	T           time.Time
	Task, Error string
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		if s := v.Config.Storm; s != nil {
			for i := range s.Count {
				at := s.T.Add(time.Duration(i) * time.Second / time.Duration(s.Count))
				v.Config.Events = append(v.Config.Events, vectorEvent{at, s.Task, fmt.Sprintf("e%d", i)})
			}
		}
		all = append(all, v)
	}
	return all
}

func TestVectors(t *testing.T) {
	t.Parallel()
	vectors := readVectors(t)
	if len(vectors) != 3 {
		t.Fatalf("%d vectors, want 3", len(vectors))
	}
	ends := map[string]func(*world){"calm": func(*world) {}, "stopped": (*world).stop, "killed": (*world).kill}
	for _, v := range vectors {
		for how, end := range ends {
			t.Run(v.ID+" "+how, func(t *testing.T) {
				t.Parallel()
				story(t, func(w *world) { v.live(w, end) })
			})
		}
	}
}

// live lets the events of the vector happen, ends the host some time after
// them, and checks what was told by the time when another one has taken over.
func (v *vector) live(w *world, end func(*world)) {
	newest := map[string]string{}
	for _, e := range v.Config.Events {
		w.task(e.Task)
		newest[e.Task] = e.Error
	}
	w.open()
	for _, e := range v.Config.Events {
		w.at(e.T.Sub(start))
		w.fails(w.tasks[e.Task], e.Error)
	}
	time.Sleep(time.Second)
	end(w)
	time.Sleep(time.Minute)
	if w.manager == nil {
		w.open()
	}
	time.Sleep(time.Hour)
	count, last := 0, map[string]delivery{}
	for _, d := range w.taken() {
		if before, ok := last[d.msg.Task]; ok && d.at.Sub(before.at) < window {
			w.t.Errorf("%v and %v are closer than the window", before, d)
		}
		last[d.msg.Task] = d
		count += d.msg.Count
		if len(d.msg.Text) > 4096 {
			w.t.Errorf("%v has a text of %d bytes", d, len(d.msg.Text))
		}
	}
	if count != v.Failures || len(w.taken()) > v.MaxMessages {
		w.t.Errorf("%d messages tell of %d failures, want at most %d and %d", len(w.taken()), count, v.MaxMessages, v.Failures)
	}
	for task, text := range newest {
		if last[task].msg.LastError != text {
			w.t.Errorf("the last message about %s shows %q, want %q", task, last[task].msg.LastError, text)
		}
	}
}
