// Bad is a plugin for the tests of package e2e that does what no plugin should.
// It takes its name from that of its file, so that each fault can have a
// process of its own.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/pluginapi/serve"
)

func main() {
	name := strings.TrimPrefix(filepath.Base(os.Args[0]), "ax-plugin-")
	if name == "exits" && len(os.Args) == 1 {
		fmt.Fprintln(os.Stderr, "cannot find my settings")
		os.Exit(3)
	}
	serve.Main(pluginapi.Info{Name: name, Version: "1.0.0", Description: "Misbehaves for tests."},
		pluginapi.JobOf("job", "Does as it is told.", func(b bad, _ pluginapi.Env) (pluginapi.Job, error) { return b, nil }),
		pluginapi.TriggerOf("trigger", "Does as it is told.", func(b bad, _ pluginapi.Env) (pluginapi.Trigger, error) { return b, nil }),
	)
}

// bad is the settings of both components.
type bad struct {
	How string `json:"how" ax:"required" doc:"What to do wrong."`
}

// misbehave does what job and trigger have in common.
func (b bad) misbehave() error {
	switch b.How {
	case "hang": // whatever the context says
		select {}
	case "panic":
		panic("thrown on purpose")
	case "crash": // where nobody can recover it
		go func() { panic("thrown beside the call") }()
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "leaving for no reason")
		os.Exit(7)
	case "flood":
		line := append(bytes.Repeat([]byte("flood "), 10_000), '\n')
		for {
			os.Stderr.Write(line)
		}
	case "fail":
		return errors.New("failing on purpose")
	}
	return nil
}

// Run implements pluginapi.Job.
func (b bad) Run(context.Context, *pluginapi.Run) (pluginapi.Result, error) {
	return pluginapi.Result{}, b.misbehave()
}

// Next implements pluginapi.Trigger.
func (b bad) Next(_ context.Context, after time.Time) (time.Time, error) {
	switch b.How {
	case "past":
		return after.Add(-time.Second), nil
	case "same":
		return after, nil
	case "now":
		return time.Now(), nil
	}
	return after.Truncate(time.Second).Add(time.Second), b.misbehave()
}
