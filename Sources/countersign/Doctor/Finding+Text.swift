import Crypto
import Host
import Identity
import Localization

extension Finding {
  var message: Message {
    switch self {
    case .configurationValid: Message("cli.the-configuration-is-valid")
    case .configurationInvalid(let problems), .folderUnusable(let problems),
      .databaseUnusable(let problems),
      .keyInvalid(let problems), .certificateUnusable(let problems):
      Self.joined(problems)
    case .clockSynchronized(let clock):
      Message(
        "cli.doctor-clock-synchronized",
        [
          "offset": .text(Self.milliseconds(clock.offset)),
          "error": .text(Self.milliseconds(clock.maximumError)),
        ])
    case .clockInaccurate(let clock):
      Message(
        "cli.doctor-clock-inaccurate",
        [
          "offset": .text(Self.milliseconds(clock.offset)),
          "error": .text(Self.milliseconds(clock.maximumError)),
        ])
    case .clockNotSynchronized(let clock):
      Message(
        "cli.doctor-clock-not-synchronized",
        [
          "offset": .text(Self.milliseconds(clock.offset)),
          "error": .text(Self.milliseconds(clock.maximumError)),
        ])
    case .clockUnknown: Message("cli.doctor-clock-unknown")
    case .clockBehind(let shown, let stored):
      Message(
        "cli.doctor-clock-behind",
        ["shown": .text(shown.rfc3339Milliseconds), "stored": .text(stored.rfc3339Milliseconds)])
    case .folderPrivate: Message("cli.doctor-folder-private")
    case .accessible(let path, let mode, _):
      Message(
        "cli.doctor-accessible", ["path": .text(path), "mode": .text(String(mode, radix: 8))])
    case .otherOwner(let path, let owner, let folderOwner):
      Message(
        "cli.doctor-other-owner",
        [
          "path": .text(path), "user": .text("\(owner)"), "folderUser": .text("\(folderOwner)"),
        ])
    case .keyBesideBackups(let folder):
      Message("cli.the-folder-has-a-key-and-backups", ["folder": .text(folder)])
    case .spaceEnough(let free):
      Message("cli.doctor-space-enough", ["free": .text(Size.free(free))])
    case .spaceShort(let free, let wanted):
      Message(
        "cli.doctor-space-short",
        ["free": .text(Size.free(free)), "wanted": .text(Size.text(wanted))])
    case .upgradeBackups(let files):
      Message("cli.doctor-upgrade-backups", ["files": .text(files.joined(separator: ", "))])
    case .formerDatabases(let folders):
      Message("cli.doctor-former-databases", ["folders": .text(folders.joined(separator: ", "))])
    case .drafts(let folders):
      Message("cli.doctor-drafts", ["folders": .text(folders.joined(separator: ", "))])
    case .interruptedFiles(let files):
      Message("cli.doctor-interrupted-files", ["files": .text(files.joined(separator: ", "))])
    case .unverifiedBackups(let files, _):
      Message("cli.doctor-unverified-backups", ["files": .text(files.joined(separator: ", "))])
    case .keyMissing: Message("cli.doctor-key-missing")
    case .keyWrong: Message("cli.the-master-key-is-not-the")
    case .keysOpen(let sample):
      sample.readable == 0
        ? Message("cli.doctor-key-matches")
        : Message("cli.doctor-keys-open", ["count": .number(sample.readable)])
    case .secretsUnreadable(let sample):
      Message(
        "cli.doctor-secrets-unreadable",
        [
          "unreadable": .number(sample.unreadable),
          "count": .number(sample.unreadable + sample.readable),
        ])
    case .schemaCurrent: Message("cli.the-schema-is-current")
    case .schemaPending(let names, _):
      Message("cli.doctor-schema-pending", ["names": .text(names.joined(separator: ", "))])
    case .schemaUnusable(let error): error.message
    case .searchIndex(.missing): Message("cli.search-index-missing")
    case .searchIndex(.onlyASCII): Message("cli.doctor-search-index-ascii")
    case .intact: Message("cli.doctor-intact")
    case .damaged(let faults):
      Message("cli.the-database-is-damaged", ["faults": .text(faults.joined(separator: "; "))])
    case .serverSettingsFine: Message("cli.doctor-server-fine")
    case .serverConnectionsFew(let allowed, let wanted):
      Message(
        "cli.doctor-server-connections",
        ["allowed": .number(allowed), "wanted": .number(wanted)])
    case .serverMemoryShort(let count):
      Message("cli.doctor-server-memory", ["allowed": .text("\(count)")])
    case .serverUnsafe(let names):
      Message("cli.doctor-server-unsafe", ["names": .text(names.joined(separator: ", "))])
    case .standbyAsynchronous: Message("cli.doctor-standby-asynchronous")
    case .mailOff: Message("cli.doctor-mail-off")
    case .mailConfigured(let server):
      Message("cli.doctor-mail-configured", ["server": .text(server)])
    case .mailWaiting(let minutes):
      Message("cli.doctor-mail-waiting", ["count": .number(minutes)])
    case .mailFailed(let count): Message("cli.doctor-mail-failed", ["count": .number(count)])
    case .passkeysPossible(let host):
      Message("cli.doctor-passkeys-possible", ["host": .text(host)])
    case .passkeysImpossible(let address):
      Message("cli.passkeys-need-a-host-name", ["address": .text(address)])
    case .backupsIgnored: Message("cli.backups-are-ignored")
    case .plainHTTP: Message("cli.doctor-plain-http")
    case .certificateValid(let certificate):
      Message(
        "cli.doctor-certificate-valid",
        [
          "subject": .text(certificate.subject),
          "date": .text(CertificateWatch.date(certificate.notAfter)),
        ])
    case .certificateWarning(let warning): warning
    case .openFilesEnough(let hard):
      Message("cli.doctor-open-files-enough", ["hard": .number(hard)])
    case .openFilesFew(let hard, let wanted):
      Message(
        "cli.doctor-open-files-few", ["hard": .number(hard), "wanted": .number(wanted)])
    }
  }

  /// What to do about the finding; nil if it's fine, or the message says it.
  var advice: Message? {
    switch self {
    case .clockInaccurate, .clockNotSynchronized, .clockUnknown: Message("cli.advice-clock")
    case .clockBehind: Message("cli.advice-clock-behind")
    case .accessible(let path, _, let wanted):
      Message(
        "cli.advice-accessible",
        ["path": .text(path), "mode": .text(String(wanted, radix: 8))])
    case .otherOwner(let path, _, let folderOwner):
      Message(
        "cli.advice-other-owner",
        ["path": .text(path), "user": .text("\(folderOwner)")])
    case .spaceShort: Message("cli.advice-space")
    case .upgradeBackups: Message("cli.advice-upgrade-backups")
    case .formerDatabases: Message("cli.advice-former-databases")
    case .drafts: Message("cli.advice-drafts")
    case .interruptedFiles: Message("cli.advice-interrupted-files")
    case .unverifiedBackups(_, let data):
      Message("cli.advice-unverified-backups", ["path": .text(data)])
    case .keyMissing: Message("cli.advice-key", ["variable": .text(PassedKey.variable)])
    case .keyWrong: Message("cli.advice-key-wrong", ["variable": .text(PassedKey.variable)])
    case .secretsUnreadable: Message("cli.advice-secrets")
    case .schemaPending(_, let data):
      Message("cli.advice-schema-pending", ["path": .text(data)])
    case .searchIndex(.missing): Message("cli.advice-search-index")
    case .searchIndex(.onlyASCII): Message("cli.advice-search-index-ascii")
    case .damaged: Message("cli.advice-damaged")
    case .serverConnectionsFew, .serverMemoryShort, .serverUnsafe, .standbyAsynchronous:
      Message("cli.advice-server")
    case .mailWaiting, .mailFailed: Message("cli.mail-advice")
    case .certificateWarning: Message("cli.advice-certificate")
    case .openFilesFew(_, let wanted):
      Message("cli.advice-open-files", ["wanted": .text("\(wanted)")])
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
