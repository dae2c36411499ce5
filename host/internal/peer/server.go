package peer

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// slowClient bounds how long a request may take to arrive, and an answer to
	// leave.
	slowClient = 10 * time.Second
	// idleConn is how long a connection may rest.
	idleConn = 3 * time.Minute
	// maxHello bounds a hello in bytes.
	maxHello = 4096
)

// ServerConfig is what a Server needs.
type ServerConfig struct {
	Self  Identity
	Trust Trust
	Host  Host
	Log   hclog.Logger
}

// Server takes messages of other hosts. Make one with NewServer.
type Server struct {
	cfg       ServerConfig
	sessions  sessions
	strangers strangers
	http      *http.Server
	handlers  map[string]handler
}

// handler answers a message from an incarnation with something to encode.
type handler func(ctx context.Context, from string, body []byte) (any, error)

// NewServer returns a Server that takes nothing yet.
func NewServer(cfg ServerConfig) (*Server, error) {
	if err := cfg.Trust.check(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, sessions: sessions{all: map[string]*session{}}, strangers: strangers{log: cfg.Log}}
	s.handlers = map[string]handler{
		"dispatch": s.dispatch, "ended": s.ended, "cancel": s.cancel,
		"changed": s.changed, "leaving": s.leaving, "drain": s.drain, "run": s.run, "ping": s.ping,
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: slowClient, IdleTimeout: idleConn, MaxHeaderBytes: 16 << 10,
		ErrorLog: cfg.Log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
	}
	return s, nil
}

// Serve answers until Close; it returns nil then.
func (s *Server) Serve(l net.Listener) error {
	if s.cfg.Trust.TLS != nil {
		config := s.cfg.Trust.TLS.Clone()
		config.ClientAuth = tls.RequireAndVerifyClientCert
		config.NextProtos = []string{"http/1.1"}
		l = tls.NewListener(l, config)
	}
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve other hosts: %w", err)
	}
	return nil
}

// Close takes nothing any more. Requests under way may end until ctx does.
func (s *Server) Close(ctx context.Context) {
	if err := s.http.Shutdown(ctx); err != nil {
		s.http.Close()
	}
}

// ServeHTTP lets in whoever proves that it is a host of the cluster.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, Base)
	h, known := s.handlers[name]
	switch {
	case ok && name == "hello" && r.Method == http.MethodPost:
		s.hello(w, r)
	case ok && known && r.Method == http.MethodPost:
		s.message(w, r, h)
	default:
		s.turnAway(w, r, codeStranger, "there is no such message")
	}
}

// turnAway answers somebody that has proved nothing.
func (s *Server) turnAway(w http.ResponseWriter, r *http.Request, code, why string) {
	if code == codeStranger {
		s.strangers.met(r.RemoteAddr, why, time.Now())
	}
	w.Header().Set(headerCode, code)
	http.Error(w, "only hosts of this cluster are let in", http.StatusUnauthorized)
}

// hello opens a session.
func (s *Server) hello(w http.ResponseWriter, r *http.Request) {
	var h hello
	body, err := read(w, r, maxHello)
	if err == nil {
		err = json.Unmarshal(body, &h)
	}
	if err != nil || !equal(h.MAC, h.sign(s.cfg.Trust.Secret)) {
		s.turnAway(w, r, codeStranger, "it does not know the secret")
		return
	}
	var answer welcome
	if h.App != s.cfg.Self.App || h.To != s.cfg.Self.Incarnation {
		answer.Other = true
	} else {
		answer.Session, answer.Nonce = nonce(), nonce()
		key := sessionKey(s.cfg.Trust.Secret, h, answer)
		s.sessions.open(answer.Session, &session{from: h.From, key: key}, time.Now())
	}
	answer.MAC = answer.sign(s.cfg.Trust.Secret, h)
	text, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, http.StatusOK, text)
}

// message checks a request of a session, and answers it.
func (s *Server) message(w http.ResponseWriter, r *http.Request, h handler) {
	found := s.sessions.find(r.Header.Get(headerSession))
	if found == nil {
		s.turnAway(w, r, codeSession, "")
		return
	}
	number, hash := r.Header.Get(headerNumber), r.Header.Get(headerBody)
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || !equal(r.Header.Get(headerMAC), requestMAC(found.key, number, r.Method, r.URL.Path, hash)) {
		s.turnAway(w, r, codeStranger, "it does not know the key of the session")
		return
	}
	if !found.use(n, time.Now()) {
		s.turnAway(w, r, codeStranger, "it repeats what a host has said")
		return
	}
	body, err := read(w, r, maxBody)
	if err != nil || !equal(hashOf(body), hash) {
		s.turnAway(w, r, codeStranger, "the message is not what was signed")
		return
	}
	status, text := s.answer(r.Context(), h, found.from, body)
	w.Header().Set(headerMAC, answerMAC(found.key, number, status, hashOf(text)))
	send(w, status, text)
}

func (s *Server) answer(ctx context.Context, h handler, from string, body []byte) (status int, text []byte) {
	answer, err := h(ctx, from, body)
	if err == nil {
		text, err = json.Marshal(answer)
	}
	if err != nil {
		s.cfg.Log.Error("cannot answer another host", "incarnation", from, "error", err)
		return http.StatusBadRequest, []byte(err.Error())
	}
	return http.StatusOK, text
}

// read reads a body. The deadline is lifted afterwards: an answer may take long.
func read(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(slowClient)); err != nil {
		return nil, fmt.Errorf("bound the time for a request: %w", err)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	return body, control.SetReadDeadline(time.Time{})
}

func send(w http.ResponseWriter, status int, text []byte) {
	// Without a deadline a client that does not read would hold the connection.
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowClient)); err != nil {
		return // the connection is gone
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(text) //nolint:errcheck // the client will notice
}
