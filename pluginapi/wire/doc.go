// Package wire joins package pluginapi to the gRPC contract of ax.plugin.v1:
// a [Server] offers components over gRPC, a [Client] calls them, and the
// Encode and Decode functions translate between plain types and messages.
// Authors of plugins use package serve instead.
package wire
