package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/slack-go/slack"

	"github.com/axsched/ax/pluginapi"
	"github.com/axsched/ax/plugins/internal/notice"
	"github.com/axsched/ax/plugins/internal/webcall"
)

// Cures of what trying again cannot mend.
const (
	badToken   = "token: is it the bot's, and is the app still installed?"
	badScope   = "the app needs the scope chat:write"
	badChannel = "channel: does it exist, and is the app a member?"
	archived   = "the channel is archived"
	forbidden  = "the workspace does not let the app write there"
	badHook    = "webhook_url: does the webhook still exist?"
	misformed  = "Slack does not understand this plugin: is there a newer one?"
)

// cures are the errors, of API and webhooks, that stay until somebody does
// something. All others may be gone the next time.
var cures = map[string]string{
	"invalid_auth": badToken, "not_authed": badToken, "account_inactive": badToken, "token_revoked": badToken,
	"token_expired": badToken, "not_allowed_token_type": badToken,
	"missing_scope": badScope, "no_permission": badScope,
	"channel_not_found": badChannel, "not_in_channel": badChannel, "user_not_found": badChannel,
	"is_archived": archived, "channel_is_archived": archived,
	"restricted_action": forbidden, "restricted_action_read_only_channel": forbidden,
	"restricted_action_thread_only_channel": forbidden, "restricted_action_non_threadable_channel": forbidden,
	"action_prohibited": forbidden, "posting_to_general_channel_denied": forbidden, "access_denied": forbidden,
	"org_login_required": forbidden, "ekm_access_denied": forbidden, "team_access_not_granted": forbidden,
	"no_service": badHook, "no_service_id": badHook, "no_team": badHook, "team_disabled": badHook,
	"invalid_token": badHook, "no_active_hooks": badHook,
	"invalid_payload": misformed, "invalid_blocks": misformed, "invalid_blocks_format": misformed,
	"invalid_attachments": misformed, "invalid_arguments": misformed, "msg_too_long": misformed,
	"msg_blocks_too_long": misformed, "no_text": misformed, "too_many_attachments": misformed,
}

// isGoneThread reports whether Slack has no message to reply to any more.
func isGoneThread(err error) bool {
	answer, ok := errors.AsType[slack.SlackErrorResponse](err)
	return ok && (answer.Err == "thread_not_found" || answer.Err == "message_not_found" || answer.Err == "cannot_reply_to_message")
}

// explain makes an error of slack-go fit for people. ctx is the caller's,
// exchange ends with it or with the timeout of the settings.
func (n *notifier) explain(ctx, exchange context.Context, err error) error {
	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		n.pace.Close(limited.RetryAfter)
		err := fmt.Errorf("there are too many messages, retry after %v", limited.RetryAfter)
		return pluginapi.RetryAfter(err, limited.RetryAfter)
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		return webcall.Status(&http.Response{StatusCode: status.Code, Status: status.Status}, n.now())
	}
	if answer, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return n.refusal(answer)
	}
	return n.calls.Failure(ctx, exchange, err)
}

// refusal explains an answer that does not say yes.
func (n *notifier) refusal(answer slack.SlackErrorResponse) error {
	details := answer.ResponseMetadata.Messages
	if answer.Needed != "" {
		details = append(details, "needed: "+answer.Needed)
	}
	text := strings.Join(append([]string{answer.Err}, details...), ": ")
	return withCure(errors.New(notice.OneLine(n.calls.Scrubber.Scrub(text), maxQuote)), answer.Err)
}

// withCure adds the cure of a code to an error, which is permanent if there is
// one.
func withCure(err error, code string) error {
	if cure, known := cures[code]; known {
		return pluginapi.Permanent(fmt.Errorf("%w (%s)", err, cure))
	}
	return err
}
