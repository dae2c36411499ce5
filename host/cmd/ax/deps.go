package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/axsched/ax/host"
	"github.com/axsched/ax/host/internal/cli"
	"github.com/axsched/ax/host/internal/redact"
)

// deps joins the command line to the host.
func deps() cli.Deps {
	d := cli.Std()
	d.Version = version
	d.Serve = serve
	d.Validate = validate
	d.Migrate = migrate
	d.Move = move
	d.OpenNext = openNext
	d.Candidate = host.ReadCandidate
	d.PlanOffline = toStderr(host.PlanOffline)
	d.Address = host.Address
	d.HashPassword = host.HashPassword
	d.NewToken = host.NewToken
	return d
}

// serve runs a host until ctx ends. SIGHUP reloads its configuration.
func serve(ctx context.Context, o cli.ServeOptions) error {
	hup := make(chan os.Signal, 1) // before anything else: unhandled, it would end the process
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	redactor := &redact.Redactor{}
	log := hclog.New(&hclog.LoggerOptions{Name: "ax", Level: hclog.Info, Output: redactor.Writer(os.Stderr)})
	h, err := host.New(host.Options{Config: o.Config, Version: version, Log: log, Redactor: redactor})
	if err != nil {
		return err
	}
	level, format := h.LogConfig()
	if format == "json" {
		log = hclog.New(&hclog.LoggerOptions{Name: "ax", Output: redactor.Writer(os.Stderr), JSONFormat: true})
		h.SetLog(log)
	}
	log.SetLevel(hclog.LevelFromString(level))
	if err := h.Start(ctx); err != nil {
		if ctx.Err() != nil {
			log.Info("host stopped before it had started", "error", err)
			return nil
		}
		return err
	}
	for {
		select {
		case <-hup:
			if _, err := h.Reload(ctx, "SIGHUP"); err != nil {
				log.Error("the configuration is not put in force, the one before goes on", "error", err)
			}
		case <-ctx.Done():
			h.Stop(context.Background())
			return nil
		}
	}
}

// quiet is the log of commands that people read the output of.
func quiet() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: "ax", Level: hclog.Warn, Output: os.Stderr})
}

func validate(ctx context.Context, path string) (cli.Report, error) {
	c, err := host.Check(ctx, path, os.Stderr)
	if err != nil {
		return cli.Report{}, err
	}
	defer c.Close()
	c.CheckSettings(ctx)
	usable, refused := c.Plugins()
	return cli.Report{
		Tasks: len(c.Config.Tasks), Calendars: len(c.Config.Calendars), Plugins: usable, Refused: refused,
		Faults: c.Faults, Warnings: c.Config.Warnings,
	}, nil
}

func migrate(ctx context.Context, o cli.MigrateOptions) (cli.MigrateReport, error) {
	m, err := host.Migrate(ctx, o.Config, o.DSN, o.DryRun, quiet())
	return cli.MigrateReport(m), err
}

func move(ctx context.Context, o cli.MoveOptions) (cli.MoveReport, error) {
	m, err := host.MoveData(ctx, host.Move{From: o.From, To: o.To, Progress: o.Progress, Log: quiet()})
	return cli.MoveReport(m), err
}

func openNext(ctx context.Context, path string) (*cli.NextSource, error) {
	c, err := host.Check(ctx, path, os.Stderr)
	if err != nil {
		return nil, err
	}
	if faults := c.Faults.Unusable(); len(faults) > 0 {
		c.Close()
		return nil, faults
	}
	return &cli.NextSource{
		Tasks: c.Config.Tasks, Calendars: c.Config.Calendars, Plugins: c.Triggers, Shown: c.Shown, Close: c.Close,
	}, nil
}

// toStderr lets a function write its warnings to standard error.
func toStderr[T any](f func(context.Context, string, io.Writer) (T, error)) func(context.Context, string) (T, error) {
	return func(ctx context.Context, path string) (T, error) { return f(ctx, path, os.Stderr) }
}
