package api

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// maxBody bounds the forms of pages. The operations of the API have their own
// bounds, of as many bytes if nothing else is said.
const maxBody = 1 << 20

// Limits of a connection. Live streams move the one of writing on and on.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server of New(c), with what guard puts around it, and safe
// limits. c.Stop must be nil: the streams end when the server is shut down.
func NewServer(c Config, guard func(*Site) http.Handler) *http.Server {
	stop := make(chan struct{})
	c.Stop = stop
	s := &http.Server{
		Handler:           guard(New(c)),
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
		case s.isPage(r):
			http.MaxBytesHandler(s.pages, maxBody).ServeHTTP(watch, r)
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
