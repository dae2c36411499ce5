package pluginhost

import (
	"maps"
	"os"
	"slices"
	"time"
)

// Policy says how the host treats one plugin. Zero fields take the defaults.
type Policy struct {
	// StartTimeout bounds a start up to the first answer, and how long a call
	// waits for a plugin in back-off; default 10 s.
	StartTimeout time.Duration
	// CallTimeout bounds each other call, and how long a run may stay without being
	// accepted; default 5 s. Runs themselves are bounded by their context.
	CallTimeout time.Duration
	// NotifyTimeout bounds the delivery of a message by a notifier, which may
	// have to wait for a server far away; default 30 s.
	NotifyTimeout time.Duration
	// DrainTimeout is how long runs may go on when the host stops, or when
	// their process must be killed because of another run; default 30 s.
	DrainTimeout time.Duration
	// MaxInflight bounds the calls and runs in progress; 0 = no limit.
	MaxInflight int
	// Env is added to the base environment, which is baseEnv and nothing else
	// of the host's own.
	Env map[string]string
	// Args are given to the program when it serves, not when it is described.
	// Plugins made with package serve take none.
	Args []string
	// SHA256 in hex, if set, is the only content that may run.
	SHA256 string
	// Disabled keeps the plugin from being described and started.
	Disabled bool
}

func (p Policy) withDefaults() Policy {
	if p.StartTimeout <= 0 {
		p.StartTimeout = 10 * time.Second
	}
	if p.CallTimeout <= 0 {
		p.CallTimeout = 5 * time.Second
	}
	if p.NotifyTimeout <= 0 {
		p.NotifyTimeout = 30 * time.Second
	}
	if p.DrainTimeout <= 0 {
		p.DrainTimeout = 30 * time.Second
	}
	return p
}

// baseEnv names the variables that a plugin gets from the host's environment.
// All others stay with the host, since they may hold secrets.
func baseEnv() []string {
	return []string{
		"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "all_proxy",
	}
}

// environ returns the base environment with the policy's own laid over it.
func (p Policy) environ() []string {
	vars := make(map[string]string)
	for _, name := range baseEnv() {
		if value, ok := os.LookupEnv(name); ok {
			vars[name] = value
		}
	}
	maps.Copy(vars, p.Env)
	env := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		env = append(env, name+"="+vars[name])
	}
	return env
}

// limits are the periods that rule the life of plugins. Only tests change them.
type limits struct {
	describe      time.Duration // for BIN --ax-describe
	settle        time.Duration // how long a file must stay unchanged
	rescan        time.Duration // between looks at the directory without an event
	health        time.Duration // between health checks
	healthCall    time.Duration // for one health check
	healthMisses  int           // in a row, then the process is killed
	silence       time.Duration // of a run without a beat
	grace         time.Duration // after a soft cancel, if the run names none
	shutdown      time.Duration // for each step of the ladder
	specTTL       time.Duration // unused specs are released after that
	slowCalls     int           // timeouts in a row, then the process is replaced
	backoffUnit   time.Duration // first back-off after a crash
	backoffMax    time.Duration
	quarantine    int // crashes within forgiveAfter
	forgiveAfter  time.Duration
	outputPerSec  int // bytes read from a plugin's stderr and stdout each
	logPerSec     int // bytes logged of them
	panicTextSize int
}

func defaultLimits() limits {
	return limits{
		describe:      5 * time.Second,
		settle:        250 * time.Millisecond,
		rescan:        5 * time.Second,
		health:        5 * time.Second,
		healthCall:    2 * time.Second,
		healthMisses:  3,
		silence:       15 * time.Second,
		grace:         10 * time.Second,
		shutdown:      2 * time.Second,
		specTTL:       10 * time.Minute,
		slowCalls:     5,
		backoffUnit:   time.Second,
		backoffMax:    5 * time.Minute,
		quarantine:    5,
		forgiveAfter:  10 * time.Minute,
		outputPerSec:  4 << 20,
		logPerSec:     64 << 10,
		panicTextSize: 64 << 10,
	}
}
