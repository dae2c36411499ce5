package cli

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/axsched/ax/host/internal/api"
)

const (
	// costSeconds is how long "ax nodes --cost" watches if nothing else is said,
	// maxCostSeconds the longest.
	costSeconds    = 10
	maxCostSeconds = 25
	// offFrom is how far a clock may be off before it is pointed out.
	offFrom = time.Second
)

func (p *program) nodesCommand() *cobra.Command {
	var cost bool
	var seconds int
	c := command(&cobra.Command{
		Use:   "nodes",
		Short: "List the hosts of an app",
		Long: `List the hosts that share a database, as the one that is asked sees them; a * marks
that one. STATE is live, stale (it missed a sign of life and gets no attempts),
suspect (its connections are refused, others schedule its tasks), dead (silent for
dead_after), starting, draining (see "ax drain") or leaving (it is stopping).

SHARE is the part of all tasks that it schedules. RUNNING and QUEUED are attempts
there, and how many it takes. CPU is how busy its machine is, with whatever, and
MEMORY what the host itself uses, without its plugins. CONFIG tells apart which
definitions are in force, CLOCK is how far its clock is from that of the database,
by which tasks are due.

With --cost the hosts' statements to the database are counted for a while: by the
server's counter, which counts those of its other clients too, and by the hosts.`,
		Example: `  ax nodes
  ax nodes --cost
  ax nodes -o json | jq -r '.nodes[] | select(.state != "live") | .name'`,
	}, "host", func(cmd *cobra.Command, _ []string) error {
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		var list api.NodeList
		if err := host.get(cmd.Context(), api.Base+"/nodes", nil, &list); err != nil {
			return err
		}
		if !cost {
			return p.show(list, func() string { return p.nodesText(list.Nodes) })
		}
		if seconds < 1 || seconds > maxCostSeconds {
			return usage(fmt.Errorf("--seconds: expected 1 to %d, got %d", maxCostSeconds, seconds))
		}
		both := struct {
			api.NodeList
			Cost api.NodesCost `json:"cost"`
		}{NodeList: list}
		query := url.Values{"seconds": {strconv.Itoa(seconds)}}
		if err := host.get(cmd.Context(), api.Base+"/nodes/cost", query, &both.Cost); err != nil {
			return err
		}
		return p.show(both, func() string { return p.nodesText(list.Nodes) + "\n" + costText(both.Cost) })
	})
	c.Flags().BoolVar(&cost, "cost", false, "also count the statements that go to the database")
	c.Flags().IntVar(&seconds, "seconds", costSeconds, "how many `SECONDS` --cost counts")
	return c
}

func (p *program) nodesText(nodes []api.NodeView) string {
	t := newTable("NODE", "STATE", "SHARE", "RUNNING", "QUEUED", "CPU", "MEMORY", "LAST SIGN OF LIFE", "CLOCK", "CONFIG", "VERSION", "API", "LABELS")
	for i := range nodes {
		n := &nodes[i]
		name := n.Name
		if n.Self {
			name += " *"
		}
		t.add(name, string(n.State), fmt.Sprintf("%.0f%%", 100*n.Share), of(n.Running, n.Workers), of(n.Queued, n.Queue),
			fmt.Sprintf("%.0f%%", 100*n.CPU), mebibytes(n.MemoryBytes),
			quietFor(n.SilenceSeconds), offset(n.ClockOffsetSeconds), n.ConfigHash[:min(8, len(n.ConfigHash))],
			n.Version, n.Address, p.cut(labels(n.Labels), noteWidth))
	}
	return t.String() + nodeNotes(nodes)
}

func mebibytes(bytes int64) string {
	if bytes == 0 {
		return "" // it does not say
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

func of(n, limit int) string { return fmt.Sprintf("%d of %d", n, limit) }

// quietFor shows how long a host has not been heard of.
func quietFor(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.1fs ago", d.Seconds())
	}
	return distance(-d)
}

// offset shows how far a clock is ahead.
func offset(seconds float64) string {
	if math.Abs(seconds) < 0.1 {
		return fmt.Sprintf("%+.0fms", 1000*seconds)
	}
	return fmt.Sprintf("%+.1fs", seconds)
}

func labels(all map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, key+"="+all[key])
	}
	return strings.Join(out, " ")
}

// nodeNotes points out what is worth a look.
func nodeNotes(nodes []api.NodeView) string {
	var configs, versions []string
	var off []string
	for i := range nodes {
		n := &nodes[i]
		if n.State == api.NodeDead || n.State == api.NodeStarting {
			continue
		}
		configs, versions = append(configs, n.ConfigHash), append(versions, n.Version)
		if math.Abs(n.ClockOffsetSeconds) > offFrom.Seconds() {
			off = append(off, n.Name)
		}
	}
	var b strings.Builder
	if different(configs) > 1 {
		b.WriteString("the hosts run different definitions: they agree within seconds, unless one cannot read a task\n")
	}
	if different(versions) > 1 {
		b.WriteString("the hosts have different versions\n")
	}
	if len(off) > 0 {
		fmt.Fprintf(&b, "the clock is wrong on %s: tasks are on time nevertheless, logs of jobs are not\n", printable(strings.Join(off, ", ")))
	}
	return b.String()
}

func different(values []string) int {
	slices.Sort(values)
	return len(slices.Compact(values))
}

func costText(c api.NodesCost) string {
	var f fields
	if c.ServerCounts {
		f.add("server", fmt.Sprintf("%.1f statements per second, of all its clients, by its own counter", c.Server))
	} else {
		f.add("server", "does not tell how many statements it gets")
	}
	f.add("hosts", fmt.Sprintf("%.1f statements per second of %s with %s, by their own count over the last minute",
		c.HostsTogether, count(c.Hosts, "host"), count(c.Tasks, "task")))
	f.add("this host", fmt.Sprintf("%.1f statements per second", c.ThisHost))
	f.add("watched", fmt.Sprintf("%.0fs", c.Seconds))
	return f.String()
}

func (p *program) drainCommand() *cobra.Command {
	var undo, force bool
	c := command(&cobra.Command{
		Use:   "drain [NODE]",
		Short: "Take a host out of scheduling; what it runs goes on",
		Long: `Take a host out of scheduling, the one that is asked or another one by its name:
others schedule its tasks at once and give it no attempts. It goes on with what it
runs and with its queue; "ax nodes" shows when it is idle. That lasts until the host
is started anew, or --undo. A host that is stopped (SIGTERM) drains by itself.

If no other host schedules it is refused, since no task would run any more; with
--force it is done.`,
		Example: `  ax drain
  ax drain node-2
  ax drain node-2 --undo`,
		Args: cobra.MaximumNArgs(1),
	}, "host", func(cmd *cobra.Command, args []string) error {
		if err := exclusive(cmd, "undo", "force"); err != nil {
			return err
		}
		host, err := p.client(cmd)
		if err != nil {
			return err
		}
		node := "self"
		if len(args) == 1 {
			node = args[0]
		}
		query := url.Values{}
		for name, on := range map[string]bool{"undo": undo, "force": force} {
			if on {
				query.Set(name, "true")
			}
		}
		path := api.Base + "/nodes/" + url.PathEscape(node) + "/drain"
		if len(query) > 0 {
			path += "?" + query.Encode()
		}
		var done api.Drained
		if err := host.post(cmd.Context(), path, nil, &done); err != nil {
			return err
		}
		return p.show(done, func() string { return drainedText(done) })
	})
	c.Flags().BoolVar(&undo, "undo", false, "let the host take part again")
	c.Flags().BoolVar(&force, "force", false, "also if no other host schedules")
	return c
}

func drainedText(d api.Drained) string {
	if !d.Draining {
		return printable(d.Name) + " takes part in scheduling again\n"
	}
	return fmt.Sprintf("%s leaves scheduling; of what it had, %d run and %d wait in its queue\n", printable(d.Name), d.Running, d.Queued)
}
