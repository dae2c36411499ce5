package main

import (
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// settings are what a receiver gives in `with:`.
type settings struct {
	URL         string             `json:"url" ax:"required,secret,format=uri" doc:"Absolute http or https URL. Only its host is shown in errors."`
	Method      string             `json:"method" ax:"enum=POST|PUT|PATCH,default=POST" doc:"Method of the request."`
	Headers     map[string]string  `json:"headers" ax:"secret" doc:"Header fields of the request."`
	Template    string             `json:"template" doc:"Go text/template that makes the body from the message; json writes a value as JSON, in moves a time to a zone: {\"text\": {{json .Title}}, \"at\": {{.Last | in .Zone | json}}}. Default: the message as JSON."`
	ContentType string             `json:"content_type" ax:"default=application/json,min=1" doc:"Content-Type of the body. A template for JSON is tried out when the settings are checked."`
	Timeout     pluginapi.Duration `json:"timeout" ax:"default=10s,min=1ms,max=5m" doc:"For one request."`
	Secret      string             `json:"secret" ax:"secret" doc:"Key that signs requests: X-Ax-Signature is sha256= and the hex HMAC-SHA256 of the value of X-Ax-Timestamp, a full stop and the body."`
}

// check reports all faults that the schema cannot express, none of which
// quotes a secret.
func (s *settings) check() (*url.URL, error) {
	u, err := webcall.ParseURL(s.URL)
	if err != nil {
		err = fmt.Errorf("url: %w", err)
	}
	errs := []error{err}
	for name, value := range s.Headers {
		if err := webcall.ValidHeader(name, value); err != nil {
			errs = append(errs, fmt.Errorf("headers: %w", err))
		}
		taken := []string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer",
			messageHeader, timestampHeader, signatureHeader}
		if slices.Contains(taken, textproto.CanonicalMIMEHeaderKey(name)) {
			errs = append(errs, fmt.Errorf("headers: %s is set by the plugin", name))
		}
	}
	if err := webcall.ValidHeader("Content-Type", s.ContentType); err != nil {
		errs = append(errs, fmt.Errorf("content_type: %w", err))
	}
	return u, errors.Join(errs...)
}
