package main

import (
	"errors"
	"fmt"
	"net/http"
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
	Preset      string             `json:"preset" ax:"enum=wecom|feishu|teams|pagerduty" doc:"Makes the body as a robot of WeCom, a bot of Feishu or Lark, a workflow of Microsoft Teams or the events API of PagerDuty wants it, keeps its limits and understands its answers. It takes the place of template."`
	Lang        string             `json:"lang" ax:"enum=en|zh,default=en" doc:"With preset: language of the message, English or Chinese."`
	Timeout     pluginapi.Duration `json:"timeout" ax:"default=10s,min=1ms,max=5m" doc:"For one request."`
	TLS         webcall.TLS        `json:"tls" doc:"Trust and identity for https."`
	Secret      string             `json:"secret" ax:"secret" doc:"Key that signs requests: X-Ax-Signature is sha256= and the hex HMAC-SHA256 of the value of X-Ax-Timestamp, a full stop and the body. With preset feishu: the key of the bot, if its security setting is the signature. With preset pagerduty: the integration key, which is required."`
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
	errs = append(errs, s.checkPreset())
	return u, errors.Join(errs...)
}

// checkPreset reports settings that a preset cannot do with or without.
func (s *settings) checkPreset() error {
	switch {
	case s.Preset == "":
		return nil
	case s.Template != "":
		return errors.New("preset and template exclude each other")
	case s.Method != http.MethodPost || !isJSON(s.ContentType):
		return fmt.Errorf("method, content_type: preset %s has its own", s.Preset)
	case s.Preset == presetPagerDuty && s.Secret == "":
		return errors.New("secret: preset pagerduty needs the integration key")
	case (s.Preset == presetWeCom || s.Preset == presetTeams) && s.Secret != "":
		return fmt.Errorf("secret: preset %s knows no signature, its URL is the secret", s.Preset)
	}
	return nil
}

// signs reports whether requests have our own signature.
func (s *settings) signs() bool { return s.Secret != "" && s.Preset == "" }
