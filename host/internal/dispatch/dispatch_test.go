package dispatch

import (
	"testing"
	"time"

	"github.com/axsched/ax/host/internal/ax"
)

// node is a Node with a fixed load and room.
type node struct {
	load int
	room ax.Room
	runs map[ax.InstanceID]bool
}

func (n *node) Load() int                             { return n.load }
func (n *node) Reserve(*ax.Task, time.Time) ax.Room   { return n.room }
func (n *node) Release(*ax.Task, ax.Room)             { n.load-- }
func (n *node) Start(a ax.Attempt, _ ax.Room)         { n.runs[a.Instance.ID] = true }
func (n *node) Settle(ax.Attempt, ax.Outcome)         {}
func (n *node) Holds(ax.InstanceID) bool              { return false }
func (n *node) Cancel(id ax.InstanceID, _ error) bool { return n.runs[id] }

func TestReserveTakesTheNodeWithTheLeastLoadThatHasRoom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		nodes []*node
		want  string
	}{
		{"one", []*node{{load: 9, room: ax.RoomNow}}, "a"},
		{"least load", []*node{{load: 3, room: ax.RoomNow}, {load: 1, room: ax.RoomQueue}}, "b"},
		{"local wins a tie", []*node{{load: 1, room: ax.RoomNow}, {load: 1, room: ax.RoomNow}}, "a"},
		{"full ones are passed over", []*node{{load: 1}, {load: 5, room: ax.RoomNow}}, "b"},
		{"none", []*node{{load: 1}, {load: 5}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var members []Member
			for i, n := range tt.nodes {
				n.runs = map[ax.InstanceID]bool{}
				members = append(members, Member{Name: string(rune('a' + i)), Incarnation: "i" + string(rune('a'+i)), Node: n})
			}
			d := New(members[0], members[1:]...)
			p := d.Reserve(&ax.Task{}, time.Time{})
			if p.Node != tt.want {
				t.Fatalf("placed on %q, want %q", p.Node, tt.want)
			}
			if p.Room == ax.RoomNone {
				return
			}
			a := ax.Attempt{Task: &ax.Task{}, Instance: ax.Instance{ID: 7}}
			d.Start(a, p)
			if !tt.nodes[p.Node[0]-'a'].runs[7] {
				t.Error("started elsewhere")
			}
			if !d.Cancel(7, nil) || d.Cancel(8, nil) {
				t.Error("Cancel must find what runs, and only that")
			}
		})
	}
}
