package main

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// TestPromisesUnderFaults is the short form of "make chaos": most kinds of faults
// once. AX_CHAOS_SEED makes it again what it was.
func TestPromisesUnderFaults(t *testing.T) {
	for name, o := range map[string]options{
		"mysql":  {Hosts: 3, Load: 40 * time.Second, Rate: 150, Skew: 30 * time.Second, Brief: true},
		"sqlite": {Hosts: 1, Load: 25 * time.Second, Rate: 150, SQLite: true, Brief: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Seed, o.Keep = seed(t), t.ArtifactDir()
			s, err := run(t.Context(), o, t.Logf)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Broken) > 0 || s.Due == 0 || s.Runs < s.Due/2 {
				t.Errorf("%d of %d due times ran; broken: %q", s.Runs, s.Due, s.Broken)
			}
		})
	}
}

func seed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("AX_CHAOS_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("AX_CHAOS_SEED: %v", err)
	}
	return seed
}
