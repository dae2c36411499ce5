package api

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// maxBody bounds every request body.
const maxBody = 1 << 20

// Limits of a connection. Live streams move the one of writing on and on.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server of New(c) with safe limits. c.Stop must be nil:
// the streams end when the server is shut down.
func NewServer(c Config) *http.Server {
	stop := make(chan struct{})
	c.Stop = stop
	s := &http.Server{
		Handler:           New(c),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          c.Log.StandardLogger(nil),
	}
	s.RegisterOnShutdown(func() { close(stop) })
	return s
}

// guard keeps away what no client of ours sends.
func guard(next http.Handler, hosts []string) http.Handler {
	sameOrigin := http.NewCrossOriginProtection()
	sameOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, huma.Error403Forbidden("a page of another origin may not change anything here"))
	}))
	protected := sameOrigin.Handler(http.MaxBytesHandler(next, maxBody))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !knownHost(r.Host, hosts) {
			writeProblem(w, huma.NewError(http.StatusMisdirectedRequest,
				fmt.Sprintf("this host is not known as %q; call it by its address", r.Host)))
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// knownHost reports whether a Host header names this listener. An attacker's
// page can make its own DNS name point here, but not an address or localhost.
func knownHost(header string, hosts []string) bool {
	name := header
	if host, _, err := net.SplitHostPort(header); err == nil {
		name = host
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(hosts, func(host string) bool { return name != "" && strings.EqualFold(host, name) })
}

// handler is the mux with log, recovery and problem documents for what it
// does not know. Logs name routes, never paths: those hold callback tokens.
func (s *server) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		watch := &watched{ResponseWriter: w}
		defer func() {
			if caught := recover(); caught != nil {
				s.recovered(watch, r, caught)
			}
			s.log.Debug("request", "method", r.Method, "route", r.Pattern, "status", watch.status, "took", time.Since(began))
		}()
		unknown, pattern := s.mux.Handler(r)
		switch {
		case pattern != "":
			s.mux.ServeHTTP(watch, r)
		case s.pages != nil && !strings.HasPrefix(r.URL.Path, "/api/"):
			s.pages.ServeHTTP(watch, r)
		default:
			s.refuseUnknown(watch, r, unknown)
		}
	})
}

// recovered answers a request whose handler panicked.
func (s *server) recovered(w *watched, r *http.Request, caught any) {
	if err, ok := caught.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(caught)
	}
	s.log.Error("panic in a request", "method", r.Method, "route", r.Pattern,
		"panic", fmt.Sprint(caught), "stack", string(debug.Stack()))
	if w.status != 0 {
		// Part of an answer is out: cut the connection, or it looks whole.
		panic(http.ErrAbortHandler)
	}
	writeProblem(w, huma.Error500InternalServerError("internal error; the log of the host tells more"))
}

// refuseUnknown answers where the mux has no route: with its redirect, or with
// its status as a problem document.
func (s *server) refuseUnknown(w http.ResponseWriter, r *http.Request, unknown http.Handler) {
	probe := &probe{header: http.Header{}}
	unknown.ServeHTTP(probe, r)
	if probe.status < http.StatusBadRequest {
		unknown.ServeHTTP(w, r)
		return
	}
	if allow := probe.header.Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
	}
	detail := "there is nothing at this path; " + Base + "/openapi.json lists what there is"
	if probe.status == http.StatusMethodNotAllowed {
		detail = "the method is not one of: " + probe.header.Get("Allow")
	}
	writeProblem(w, huma.NewError(probe.status, detail))
}

// watched remembers the status that was sent.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// probe is a ResponseWriter that keeps status and header only.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) WriteHeader(status int)      { p.status = status }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
