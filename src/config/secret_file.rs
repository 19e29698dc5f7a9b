//! Files that hold secrets: only their owner may read them.
//!
//! The mode of the open file is judged, not that of its name: a file cannot be
//! swapped between the look and the reading. One exception is made for what
//! systemd's `LoadCredential` makes: a file of root's with an access control
//! list that lets the service's own user read. Its mode shows the list's mask
//! as bits of the group (0440), though the group may do nothing.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;
use zeroize::Zeroizing;

/// The attribute in which Linux keeps a file's access control list.
const ACL_NAME: &str = "system.posix_acl_access";
/// Bytes of a list with about a hundred entries; ours has five.
const ACL_BYTES_MAX: usize = 1 << 10;
/// The version of the list's form, its first four bytes.
const ACL_VERSION: [u8; 4] = [2, 0, 0, 0];
/// Bytes of an entry: tag, permissions, id.
const ENTRY_BYTES: usize = 8;

/// Tags of entries: the owner, a named user, the owner's group, a named group,
/// the mask, everybody else.
const OWNER: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP: u16 = 0x04;
const NAMED_GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHERS: u16 = 0x20;

/// Why a file of secrets is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretFileError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(ErrorKind),
    /// Others than its owner may read or change it.
    #[error("has mode {0:04o}: others may read it; `chmod 600` it")]
    Permissions(u32),
}

/// Who may do what with a file.
struct Guard {
    mode: u32,
    owner: u32,
    /// The access control list, as the kernel gives it; empty: none.
    acl: Vec<u8>,
}

/// Reads a file that its owner alone may read.
pub fn read_secret_file(path: &Path) -> Result<Zeroizing<String>, SecretFileError> {
    let failed = |error: std::io::Error| SecretFileError::Unreadable(error.kind());
    let mut file = File::open(path).map_err(failed)?;
    let guard = Guard::of(&file).map_err(failed)?;
    if !guard.is_private(geteuid().as_raw()) {
        return Err(SecretFileError::Permissions(guard.mode));
    }
    let mut text = Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

impl Guard {
    fn of(file: &File) -> std::io::Result<Self> {
        let metadata = file.metadata()?;
        let mut acl = vec![0; ACL_BYTES_MAX];
        // No list, and a file system that knows none, are the same to us.
        let read = rustix::fs::fgetxattr(file, ACL_NAME, acl.as_mut_slice()).unwrap_or(0);
        acl.truncate(read);
        Ok(Self {
            mode: metadata.mode() & 0o7777,
            owner: metadata.uid(),
            acl,
        })
    }

    /// Whether nobody but the owner, and this process's user `own`, gets in.
    fn is_private(&self, own: u32) -> bool {
        match self.mode & 0o077 {
            0 => true,
            // Bits of the group are the list's mask where there is a list.
            0o040 => self.owner == 0 && self.names_only(own),
            _ => false,
        }
    }

    /// Whether the list lets nobody in but the owner and this user.
    fn names_only(&self, own: u32) -> bool {
        let Some(entries) = self.acl.strip_prefix(&ACL_VERSION) else {
            return false;
        };
        let is_harmless = |entry: &[u8]| {
            let &[t0, t1, p0, p1, i0, i1, i2, i3] = entry else {
                return false;
            };
            let (tag, permissions) = (u16::from_le_bytes([t0, t1]), u16::from_le_bytes([p0, p1]));
            match tag {
                OWNER | MASK => true,
                USER => permissions == 0 || u32::from_le_bytes([i0, i1, i2, i3]) == own,
                GROUP | NAMED_GROUP | OTHERS => permissions == 0,
                _ => false,
            }
        };
        !entries.is_empty() && entries.chunks(ENTRY_BYTES).all(is_harmless)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SERVICE: u32 = 61_234;

    fn acl(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let mut bytes = ACL_VERSION.to_vec();
        for (tag, permissions, id) in entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend(permissions.to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    /// What systemd sets on a credential for a user.
    fn credential(user: u32) -> [(u16, u16, u32); 5] {
        let nobody = u32::MAX;
        [
            (OWNER, 4, nobody),
            (USER, 4, user),
            (GROUP, 0, nobody),
            (MASK, 4, nobody),
            (OTHERS, 0, nobody),
        ]
    }

    fn is_private(mode: u32, owner: u32, acl: Vec<u8>) -> bool {
        Guard { mode, owner, acl }.is_private(SERVICE)
    }

    #[test]
    fn a_credential_of_systemd_is_private_and_a_file_of_a_group_is_not() {
        let entries = credential(SERVICE);
        assert!(is_private(0o440, 0, acl(&entries)));
        assert!(is_private(0o400, SERVICE, Vec::new()));
        // The same bits without a list, or of another's making, are a group's.
        assert!(!is_private(0o440, 0, Vec::new()));
        assert!(!is_private(0o440, SERVICE, acl(&entries)));
        assert!(!is_private(0o444, 0, acl(&entries)));
        assert!(!is_private(0o460, 0, acl(&entries)));
    }

    #[test]
    fn a_list_that_lets_anybody_else_in_is_not_private() {
        let mut group = credential(SERVICE);
        group[2].1 = 4;
        let mut named = credential(SERVICE).to_vec();
        named.insert(3, (NAMED_GROUP, 4, 50));
        let mut unknown = credential(SERVICE).to_vec();
        unknown.push((0x40, 4, 1));
        let mut torn = acl(&credential(SERVICE));
        torn.pop();
        for list in [
            acl(&group),
            acl(&named),
            acl(&unknown),
            acl(&credential(SERVICE + 1)),
            torn,
            acl(&[]),
        ] {
            assert!(!is_private(0o440, 0, list.clone()), "{list:?}");
        }
    }

    #[test]
    fn the_kernels_own_list_is_understood() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        std::fs::write(&path, "a secret").expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o400)).expect("set");
        let own = geteuid().as_raw();
        let list = acl(&credential(own));
        let flags = rustix::fs::XattrFlags::empty();
        let set = rustix::fs::setxattr(&path, ACL_NAME, &list, flags);
        let owner = std::fs::metadata(&path).expect("it is there").uid();
        if set.is_err() || owner != 0 {
            eprintln!("skipped: it needs root and a file system with lists");
            return;
        }
        let mode = std::fs::metadata(&path).expect("it is there").mode();
        assert_eq!(mode & 0o777, 0o440);
        let read = read_secret_file(&path).expect("it is private");
        assert_eq!(*read, "a secret");
        let others = acl(&credential(own + 1));
        rustix::fs::setxattr(&path, ACL_NAME, &others, flags).expect("set");
        let refused = read_secret_file(&path);
        assert_eq!(refused, Err(SecretFileError::Permissions(0o440)));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_with_its_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secret");
        std::fs::write(&path, "a secret").expect("written");
        for mode in [0o640, 0o604, 0o644, 0o620, 0o601, 0o440] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            let refused = read_secret_file(&path).expect_err("refused");
            assert_eq!(refused, SecretFileError::Permissions(mode));
            let told = refused.to_string();
            assert!(told.contains(&format!("{mode:04o}")), "{told}");
            assert!(told.contains("chmod 600"), "{told}");
        }
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
        assert_eq!(*read_secret_file(&path).expect("private"), "a secret");
    }
}
