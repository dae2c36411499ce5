package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/axsched/ax/pluginapi"
)

// Settings are what a user writes under "with". The tags become the JSON Schema
// by which the host checks them.
type Settings struct {
	Paths   []string `json:"paths" ax:"required,min=1" doc:"Folders whose file systems are looked at, as absolute paths."`
	Percent int      `json:"percent" ax:"default=10,min=0,max=100" doc:"Least free space, in percent."`
}

type job struct{ Settings }

// newJob checks what the schema cannot say. It runs when the configuration is
// loaded, so its error is shown as a fault of the file.
func newJob(s Settings, _ pluginapi.Env) (pluginapi.Job, error) {
	for _, path := range s.Paths {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("paths: %q is not an absolute path", path)
		}
	}
	return job{s}, nil
}

// Run implements [pluginapi.Job].
func (j job) Run(ctx context.Context, run *pluginapi.Run) (pluginapi.Result, error) {
	free := map[string]any{}
	var low []error
	for i, path := range j.Paths {
		if ctx.Err() != nil { // the timeout, a person, or the end of the host
			return pluginapi.Result{}, context.Cause(ctx)
		}
		percent, err := percentFree(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Another attempt would find it missing as well.
			return pluginapi.Result{}, pluginapi.Permanent(fmt.Errorf("look at %s: %w", path, err))
		case err != nil:
			return pluginapi.Result{}, fmt.Errorf("look at %s: %w", path, err)
		case percent < j.Percent:
			low = append(low, fmt.Errorf("%s has %d %% free, less than %d %%", path, percent, j.Percent))
		}
		free[path] = percent
		run.Log.Info("looked at a file system", "path", path, "free_percent", percent)
		run.Progress(int64(i+1), int64(len(j.Paths)), path)
	}
	if len(low) > 0 {
		return pluginapi.Result{}, errors.Join(low...)
	}
	return pluginapi.Result{Message: fmt.Sprintf("%d file systems have room", len(j.Paths)), Data: free}, nil
}

// percentFree returns how much of a file system ordinary users may still fill.
func percentFree(path string) (int, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, err
	}
	if s.Blocks == 0 {
		return 100, nil // such as /proc, which has no blocks to fill
	}
	return int(100 * s.Bavail / s.Blocks), nil
}
