package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// NodeBackend is the part of Backend about the hosts of the app.
type NodeBackend interface {
	// ListNodes lists the hosts as this one sees them, in the order of their names.
	ListNodes(ctx context.Context) (NodeList, error)
	// Drain lets a host leave scheduling, or takes that back; without a name it is
	// this one. What the state of things forbids is a *Conflict.
	Drain(ctx context.Context, name string, o DrainOptions) (Drained, error)
	// NodesCost watches for a while what the hosts ask of the database. With
	// SQLite it is a *Conflict.
	NodesCost(ctx context.Context, span time.Duration) (NodesCost, error)
}

// NodeList is all hosts of an app, as one of them sees them.
type NodeList struct {
	Nodes []NodeView `json:"nodes" nullable:"false"`
	Next  string     `json:"next,omitempty" doc:"Value of after for the next page; absent on the last one"`
}

// NodeView is one life of a host.
type NodeView struct {
	Name               string            `json:"name"`
	Incarnation        string            `json:"incarnation" doc:"Unique for each start of a host"`
	Self               bool              `json:"self" doc:"Whether it is the host that answers"`
	State              NodeState         `json:"state" enum:"live,stale,suspect,dead,starting,draining,leaving" doc:"live: it gives signs of life; stale: it has missed one, and gets no attempts; suspect: its connections are refused or reset, others schedule its tasks; dead: silent for dead_after; starting: it has not come yet; draining: a person took it out of scheduling; leaving: it is stopping"`
	Address            string            `json:"address,omitempty" doc:"Of its API"`
	Cluster            string            `json:"cluster,omitempty" doc:"Where other hosts reach it"`
	Version            string            `json:"version"`
	PID                int               `json:"pid"`
	StartedAt          time.Time         `json:"started_at"`
	BeatAt             time.Time         `json:"beat_at" doc:"Its last sign of life, by the clock of the database"`
	SilenceSeconds     float64           `json:"silence_seconds" doc:"Time since then when the host that answers last looked"`
	Running            int               `json:"running" doc:"Runs in flight"`
	Queued             int               `json:"queued" doc:"Runs that wait for a worker there"`
	Workers            int               `json:"workers"`
	Queue              int               `json:"queue" doc:"Places in its queue"`
	CPU                float64           `json:"cpu" doc:"The part of its machine that was busy lately, with whatever, 0 to 1"`
	MemoryBytes        int64             `json:"memory_bytes,omitempty" doc:"What its process uses"`
	Share              float64           `json:"share" doc:"The part of all tasks that it schedules, 0 to 1"`
	Labels             map[string]string `json:"labels,omitempty"`
	ConfigHash         string            `json:"config_hash,omitempty" doc:"Tells apart which definitions are in force there"`
	ClockOffsetSeconds float64           `json:"clock_offset_seconds" doc:"By how much its clock is ahead of that of the database"`
}

// NodeState sums up how a host looks; the schema of NodeView explains them.
type NodeState string

// States of a host.
const (
	NodeLive     NodeState = "live"
	NodeStale    NodeState = "stale"
	NodeSuspect  NodeState = "suspect"
	NodeDead     NodeState = "dead"
	NodeStarting NodeState = "starting"
	NodeDraining NodeState = "draining"
	NodeLeaving  NodeState = "leaving"
)

// NodesCost is what was asked of the database in a time.
type NodesCost struct {
	Seconds       float64 `json:"seconds" doc:"How long it was watched"`
	ServerCounts  bool    `json:"server_counts" doc:"Whether the server tells how many statements it gets"`
	Server        float64 `json:"server_per_second,omitempty" doc:"Statements of all clients of the server, by its own counter"`
	HostsTogether float64 `json:"hosts_per_second" doc:"Statements of all live hosts of the app as they count them themselves, on average over the last minute"`
	ThisHost      float64 `json:"this_host_per_second" doc:"Statements of the host that answers, in the time watched"`
	Hosts         int     `json:"hosts" doc:"Live ones"`
	Tasks         int     `json:"tasks"`
}

// DrainOptions are the details of a drain.
type DrainOptions struct {
	// Undo lets the host take part again.
	Undo bool
	// Force also lets the last host go that schedules.
	Force bool
	Actor string
}

// Drained says what a drain has done.
type Drained struct {
	Name        string `json:"name"`
	Incarnation string `json:"incarnation"`
	Draining    bool   `json:"draining"`
	Running     int    `json:"running" doc:"Runs in flight there, which go on"`
	Queued      int    `json:"queued" doc:"Runs that wait for a worker there, and will get one"`
}

func (s *server) nodeRoutes() {
	register(s, huma.Operation{
		OperationID: "list-nodes", Method: http.MethodGet, Path: Base + "/nodes",
		Summary: "List the hosts of the app, as this one sees them", Tags: []string{"host"},
	}, s.listNodes)
	register(s, huma.Operation{
		OperationID: "measure-nodes", Method: http.MethodGet, Path: Base + "/nodes/cost",
		Summary:     "Watch how many statements the hosts send to the database",
		Description: "The answer comes after the time asked for. The counter of the server is that of all its clients, also of those that have nothing to do with ax.",
		Tags:        []string{"host"}, Errors: []int{http.StatusConflict},
	}, s.measureNodes)
	register(s, huma.Operation{
		OperationID: "drain-node", Method: http.MethodPost, Path: Base + "/nodes/{name}/drain",
		Summary:     "Let a host leave scheduling",
		Description: "Others schedule its tasks at once and give it no attempts; what it runs goes on. It lasts until the host is started anew, or until undo. The name may be an incarnation.",
		Tags:        []string{"host"}, Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, s.drainNode)
}

func (s *server) listNodes(ctx context.Context, in *Paging) (*reply[NodeList], error) {
	list, err := s.backend.ListNodes(ctx)
	if err != nil {
		return nil, err
	}
	list.Nodes, list.Next = paged(list.Nodes, *in, func(n NodeView) string { return n.Name + " " + n.Incarnation })
	return &reply[NodeList]{list}, nil
}

type costQuery struct {
	Seconds int `query:"seconds" minimum:"1" maximum:"25" default:"10" doc:"How long to watch"`
}

func (s *server) measureNodes(ctx context.Context, in *costQuery) (*reply[NodesCost], error) {
	cost, err := s.backend.NodesCost(ctx, time.Duration(in.Seconds)*time.Second)
	return &reply[NodesCost]{cost}, err
}

type drainInput struct {
	Acting
	Name  string `path:"name" maxLength:"255" doc:"Name or incarnation of the host; \"self\" is the one that answers"`
	Undo  bool   `query:"undo" doc:"Let it take part again"`
	Force bool   `query:"force" doc:"Also if no other host schedules"`
}

// selfNode names the host that answers.
const selfNode = "self"

func (s *server) drainNode(ctx context.Context, in *drainInput) (*reply[Drained], error) {
	name := in.Name
	if name == selfNode {
		name = ""
	}
	done, err := s.backend.Drain(ctx, name, DrainOptions{Undo: in.Undo, Force: in.Force, Actor: in.Actor})
	return &reply[Drained]{done}, err
}
