package store

import "syscall"

// Numbers of statfs(2) for filesystems whose locks or shared memory do not
// hold what SQLite's WAL asks of them.
var networkFilesystems = map[uint32]string{
	0x6969:     "nfs",
	0x517b:     "smb",
	0xff534d42: "cifs",
	0xfe534d42: "smb2",
	0x00c36400: "ceph",
	0x01021997: "9p",
	0x5346414f: "afs",
	0x65735546: "fuse",
}

// networkFilesystem names the filesystem of dir if it is a network one, or may
// be (fuse); it is empty for local ones and when that cannot be told.
func networkFilesystem(dir string) string {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return ""
	}
	return networkFilesystems[uint32(st.Type)]
}
