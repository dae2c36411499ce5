package main

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that a command runs as.
type account struct {
	name string
	home string
	// credential is nil if the plugin's own user is meant.
	credential *syscall.Credential
}

// ownAccount describes the user of this process. A machine without a record
// of the user (a bare container) is no obstacle.
func ownAccount(host lookup) account {
	who := account{name: strconv.Itoa(os.Geteuid()), home: host("HOME")}
	if u, err := user.LookupId(who.name); err == nil {
		who.name = u.Username
		who.home = orElse(who.home, u.HomeDir)
	}
	who.home = orElse(who.home, "/")
	return who
}

// findAccount looks up a user by name or number, with all its groups. It fails
// if a process of user euid may not become that user.
func findAccount(nameOrID string, euid int) (account, error) {
	u, err := user.Lookup(nameOrID)
	if err != nil {
		if u, err = user.LookupId(nameOrID); err != nil {
			return account{}, fmt.Errorf("user %q does not exist on this machine", nameOrID)
		}
	}
	who := account{name: u.Username, home: orElse(u.HomeDir, "/")}
	if u.Uid == strconv.Itoa(euid) {
		return who, nil
	}
	if euid != 0 {
		return account{}, fmt.Errorf("cannot run as user %q: the host runs as user %d, not as root", nameOrID, euid)
	}
	who.credential, err = credentialOf(u)
	if err != nil {
		return account{}, fmt.Errorf("read the groups of user %q: %w", nameOrID, err)
	}
	return who, nil
}

func credentialOf(u *user.User) (*syscall.Credential, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	cred := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, text := range groups {
		group, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		cred.Groups = append(cred.Groups, uint32(group))
	}
	return cred, nil
}
