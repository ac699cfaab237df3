import Crypto
import Host
import Identity
import Localization

extension Finding {
  var message: Message {
    switch self {
    case .configurationValid: Message("The configuration is valid.")
    case .configurationInvalid(let problems), .folderUnusable(let problems),
      .databaseUnusable(let problems),
      .keyInvalid(let problems), .certificateUnusable(let problems),
      .auditFilePosition(let problems):
      Self.joined(problems)
    case .clockSynchronized(let clock):
      Message(
        "The clock is synchronized (offset {offset}, maximum error {error}).",
        [
          "offset": .text(Self.milliseconds(clock.offset)),
          "error": .text(Self.milliseconds(clock.maximumError)),
        ])
    case .clockInaccurate(let clock):
      Message(
        "The clock is synchronized, but inaccurate (offset {offset}, maximum error {error}).",
        [
          "offset": .text(Self.milliseconds(clock.offset)),
          "error": .text(Self.milliseconds(clock.maximumError)),
        ])
    case .clockNotSynchronized(let clock):
      Message(
        "The clock isn't synchronized (offset {offset}, maximum error {error}).",
        [
          "offset": .text(Self.milliseconds(clock.offset)),
          "error": .text(Self.milliseconds(clock.maximumError)),
        ])
    case .clockUnknown: Message("The kernel doesn't report whether the clock is synchronized.")
    case .clockBehind(let shown, let stored):
      Message(
        "The clock shows {shown}, which is before the newest time in the database, {stored}.",
        ["shown": .text(shown.rfc3339Milliseconds), "stored": .text(stored.rfc3339Milliseconds)])
    case .folderPrivate: Message("Other users can't access the data folder and its files.")
    case .accessible(let path, let mode, _):
      Message(
        "Other users can access {path} (mode {mode}).",
        ["path": .text(path), "mode": .text(String(mode, radix: 8))])
    case .otherOwner(let path, let owner, let folderOwner):
      Message(
        "{path} belongs to user {user}, but the data folder belongs to user {folderUser}.",
        [
          "path": .text(path), "user": .text("\(owner)"), "folderUser": .text("\(folderOwner)"),
        ])
    case .keyBesideBackups(let folder):
      Message(
        """
        {folder} has a master.key. Anyone who gets a backup and the key can read all second \
        factors: keep backups in another folder.
        """, ["folder": .text(folder)])
    case .spaceEnough(let free):
      Message("{free} is free.", ["free": .text(Size.free(free))])
    case .spaceShort(let free, let wanted):
      Message(
        "{free} is free. {wanted} would leave room for a backup and for growth.",
        ["free": .text(Size.free(free)), "wanted": .text(Size.text(wanted))])
    case .upgradeBackups(let files):
      Message(
        "Backups of earlier upgrades: {files}", ["files": .text(files.joined(separator: ", "))])
    case .formerDatabases(let folders):
      Message(
        "Databases replaced by a restore: {folders}",
        ["folders": .text(folders.joined(separator: ", "))])
    case .drafts(let folders):
      Message(
        "Copies left by an interrupted init or restore: {folders}",
        ["folders": .text(folders.joined(separator: ", "))])
    case .interruptedFiles(let files):
      Message(
        "Files of interrupted backups and exports: {files}",
        ["files": .text(files.joined(separator: ", "))])
    case .unverifiedBackups(let files, _):
      Message(
        "Backups that can't be verified: {files}", ["files": .text(files.joined(separator: ", "))])
    case .keyMissing: Message("There's no master key.")
    case .keyWrong:
      Message(
        """
        The master key isn't this database's, or is only one of the two keys that a rotation in \
        progress requires, so second factors and signing keys can't be read. Put the current key, \
        or both keys, back.
        """)
    case .keysOpen(let sample):
      sample.readable == 0
        ? Message("The master key matches the database, which has no second factors yet.")
        : Message(
          one: "The master key matches the database and decrypts the {count} second factor tested.",
          other: """
            The master key matches the database and decrypts the {count} second factors tested.
            """, ["count": .number(sample.readable)])
    case .secretsUnreadable(let sample):
      Message(
        one: "The master key doesn't decrypt {unreadable} of the {count} second factor tested.",
        other: "The master key doesn't decrypt {unreadable} of the {count} second factors tested.",
        [
          "unreadable": .number(sample.unreadable),
          "count": .number(sample.unreadable + sample.readable),
        ])
    case .schemaCurrent: Message("The schema is current.")
    case .schemaPending(let names, _):
      Message("Pending migrations: {names}", ["names": .text(names.joined(separator: ", "))])
    case .schemaUnusable(let problem): problem
    case .searchIndex(.missing):
      Message(
        """
        Each search reads all users, because the index that needs PostgreSQL's pg_trgm extension is \
        missing.
        """)
    case .searchIndex(.onlyASCII):
      Message(
        """
        Searches for names in non-Latin scripts scan all users, because the database was created \
        with LC_CTYPE C.
        """)
    case .intact: Message("The quick check found no damage.")
    case .damaged(let faults):
      Message(
        "The database is damaged: {faults}", ["faults": .text(faults.joined(separator: "; "))])
    case .serverSettingsFine: Message("The settings of the database's server are as recommended.")
    case .serverConnectionsFew(let allowed, let wanted):
      Message(
        """
        The database's server allows {allowed} connections (max_connections), but its servers \
        need {wanted}.
        """,
        ["allowed": .number(allowed), "wanted": .number(wanted)])
    case .serverMemoryShort(let count):
      Message(
        """
        With max_prepared_transactions = {allowed}, the database's server forgets writes early \
        while a long one is open, and refuses others.
        """, ["allowed": .text("\(count)")])
    case .serverUnsafe(let names):
      Message(
        """
        A power failure can destroy the database, because these settings of its server are off: \
        {names}.
        """, ["names": .text(names.joined(separator: ", "))])
    case .standbyAsynchronous:
      Message(
        """
        A failover loses what the standby hasn't received yet, because synchronous_standby_names is \
        empty.
        """)
    case .mailOff: Message("No mail server is set, so emails stay in the console.")
    case .mailConfigured(let server):
      Message("The mail server is {server}. It wasn't contacted.", ["server": .text(server)])
    case .mailWaiting(let minutes):
      Message(
        one: "The oldest email has waited to be sent for {count} minute.",
        other: "The oldest email has waited to be sent for {count} minutes.",
        ["count": .number(minutes)])
    case .mailFailed(let count):
      Message(
        one: "{count} email failed in the last 24 hours.",
        other: "{count} emails failed in the last 24 hours.", ["count": .number(count)])
    case .passkeysPossible(let host):
      Message(
        "Administrators can use passkeys, which are bound to the hostname {host}.",
        ["host": .text(host)])
    case .passkeysImpossible(let address):
      Message(
        """
        Administrators can't use passkeys at {address}: they need --public-url with a hostname, \
        not an IP address, and HTTPS.
        """, ["address": .text(address)])
    case .backupsIgnored:
      Message(
        """
        --backups has no effect: the database is on PostgreSQL, and countersign backup doesn't back \
        it up. Remove the setting, and monitor the backups of PostgreSQL.
        """)
    case .mfaValuesReplaced:
      Message(
        """
        The upgrade changed what indicates MFA at the sign-in provider: mfa, or two methods of \
        different kinds. Before, otp or hwk alone was accepted.
        """)
    case .auditFileWritten(let path):
      Message("The audit log is written to {path}.", ["path": .text(path)])
    case .auditFileUnwritable(let path):
      Message("The audit file {path} can't be written by this user.", ["path": .text(path)])
    case .auditFileBehind(let path, let minutes):
      Message(
        one: "An entry of the audit log has waited for {count} minute to be written to {path}.",
        other: "An entry of the audit log has waited for {count} minutes to be written to {path}.",
        ["count": .number(minutes), "path": .text(path)])
    case .auditNotSealed(let delay): delay.message
    case .plainHTTP: Message("No certificate is set, so the server uses HTTP.")
    case .certificateValid(let certificate):
      Message(
        "The certificate of {subject} is valid until {date}.",
        [
          "subject": .text(certificate.subject),
          "date": .text(CertificateWatch.date(certificate.notAfter)),
        ])
    case .certificateWarning(let warning): warning
    case .connection(let project, let problem):
      Message(
        "{project}: {problem}", ["project": .text(project), "problem": .message(problem)])
    case .openFilesEnough(let hard):
      Message("The open file limit is {hard}.", ["hard": .number(hard)])
    case .openFilesFew(let hard, let wanted):
      Message(
        """
        The open file limit of this shell is {hard}, but the server needs {wanted} for all its \
        connections.
        """, ["hard": .number(hard), "wanted": .number(wanted)])
    }
  }

  /// What to do about the finding; nil if it's fine, or the message says it.
  var advice: Message? {
    switch self {
    case .clockInaccurate, .clockNotSynchronized, .clockUnknown:
      Message(
        """
        One-time codes depend on the time. Install chrony or systemd-timesyncd. For a container, \
        install it on the host.
        """)
    case .clockBehind:
      Message("Set the clock. Until then, the server doesn't delete expired data or send email.")
    case .accessible(let path, _, let wanted):
      Message(
        "Run chmod {mode} {path}",
        ["path": .text(path), "mode": .text(String(wanted, radix: 8))])
    case .otherOwner(let path, _, let folderOwner):
      Message(
        "Run chown {user} {path}, and commands on this folder as that user.",
        ["path": .text(path), "user": .text("\(folderOwner)")])
    case .spaceShort:
      Message("Free some space or enlarge the disk. The server isn't ready with less than 64 MiB.")
    case .upgradeBackups:
      Message("Delete them once you no longer need to roll back. They contain users' data.")
    case .formerDatabases:
      Message("Delete them once you no longer need to compare them. They contain users' data.")
    case .mfaValuesReplaced:
      Message(
        """
        Administrators whose provider reports one method use their second factor in Countersign, \
        or set one up when they sign in. If the provider indicates MFA with other values, enter \
        them at /administrators/sign-in-provider. Saving that page ends this warning.
        """)
    case .drafts:
      Message(
        "They're deleted the next time the server starts. They contain users' data or a master key."
      )
    case .interruptedFiles: Message("Delete them. They contain users' data.")
    case .unverifiedBackups(_, let data):
      Message(
        """
        Find out why with countersign backup --check FILE --data {path}, then delete them. They \
        contain users' data.
        """, ["path": .text(data)])
    case .keyMissing:
      Message(
        """
        Put the copy of master.key back, or pass the credential in {variable}. Without the key, \
        second factors can't be read.
        """, ["variable": .text(PassedKey.variable)])
    case .keyWrong:
      Message(
        """
        Put the current copy of master.key back, or pass the credential in {variable}. Don't stop a \
        running server unless you have another copy: the only one may be in its memory.
        """, ["variable": .text(PassedKey.variable)])
    case .secretsUnreadable:
      Message("Was a master key rotated? Put the copy of master.key with all its keys back.")
    case .schemaPending(_, let data):
      Message(
        """
        The next start applies them, after creating a backup. See countersign migrate --dry-run \
        --data {path}.
        """, ["path": .text(data)])
    case .searchIndex(.missing):
      Message(
        """
        Install the extension and create the index, as described in \
        /usr/share/doc/countersign/docs/configuration.md under "PostgreSQL".
        """)
    case .searchIndex(.onlyASCII):
      Message(
        """
        Create a database with LC_CTYPE C.UTF-8, and copy the data to it, as described in \
        /usr/share/doc/countersign/docs/configuration.md under "PostgreSQL".
        """)
    case .damaged:
      Message(
        "Stop the server, keep a copy of the data folder, and restore the latest intact backup.")
    case .serverConnectionsFew, .serverMemoryShort, .serverUnsafe, .standbyAsynchronous:
      Message(
        """
        Change the setting, as described in /usr/share/doc/countersign/docs/scaling.md under \
        "PostgreSQL".
        """)
    case .mailWaiting, .mailFailed:
      Message("Check the mail server. The log and the messages in the console have its responses.")
    case .auditFileUnwritable:
      Message("Run countersign doctor as the server's user, which must be able to write the file.")
    case .auditFileBehind:
      Message("Check that the server runs with this file. Its log has the reason.")
    case .auditNotSealed: Message("End the transactions, for example with pg_terminate_backend.")
    case .certificateWarning: Message("Renew the certificate, then send the server SIGHUP.")
    case .openFilesFew(_, let wanted):
      Message(
        "Set LimitNOFILE={wanted} in the systemd unit, or raise ulimit -Hn.",
        ["wanted": .text("\(wanted)")])
    default: nil
    }
  }

  static func joined(_ problems: [Message]) -> Message {
    .verbatim(problems.map(OperatorText.string).joined(separator: " "))
  }

  /// Rounds away from zero.
  private static func milliseconds(_ microseconds: Int) -> String {
    "\((microseconds + (microseconds < 0 ? -999 : 999)) / 1000) ms"
  }
}
