// Package serve makes a plugin out of components: its [Main] is all of a
// plugin's main function. The host's side of the contract is in plugin.proto.
package serve

import (
	"fmt"
	"os"
	_ "time/tzdata" // a host may start plugins where there are no zone files

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/wire"
)

// Main serves components to the host that started this program and never
// returns. It
//
//   - exits with status 1 and a clear text if info or a component is not fit, or
//     if a person started the program;
//   - prints what the plugin offers for --ax-describe, --version and --help;
//     other arguments are the author's;
//   - makes package slog, package log and hclog write records for the host's
//     log; other writes to standard output or error are logged as they are;
//   - on SIGTERM cancels all runs with [pluginapi.ErrDrain], gives them up to
//     10 s and exits; SIGINT is for the host, which tells its plugins;
//   - exits within half a second if the host dies, however it dies. Functions
//     that runs registered with Run.OnKill are called first.
//
// Code before Main and in init functions runs for --ax-describe too, so it
// should do nothing that is seen from outside.
func Main(info pluginapi.Info, components ...pluginapi.Component) {
	os.Exit(run(info, components))
}

func run(info pluginapi.Info, components []pluginapi.Component) (status int) {
	manifest, err := wire.NewManifest(info, components)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is not fit to be served as a plugin:\n%v\n", os.Args[0], err)
		return 1
	}
	cmd := command{manifest, os.Stdout, os.Stderr}
	if status, ok := cmd.run(os.Args[1:]); ok {
		return status
	}
	if os.Getenv(wire.CookieKey) != wire.CookieValue {
		cmd.explain(os.Stderr)
		return 1
	}
	p, err := newProcess(info, components)
	if err != nil {
		fmt.Fprintf(os.Stderr, "start plugin %s: %v\n", info.Name, err)
		return 1
	}
	return p.serve()
}
