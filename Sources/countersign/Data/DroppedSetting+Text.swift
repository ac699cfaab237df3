import Identity
import Localization
import MailText

extension DroppedSetting {
  /// What the setting is and what it contains, for the operator; never a secret or the text of a note.
  var message: Message {
    let (name, author) = (Message.Value.text(self.name), Message.Value.text(self.author))
    let pool = Message.Value.text(tenant.isEmpty ? project : "\(project)/\(tenant)")
    let day = Message.Value.text(String(at?.rfc3339Milliseconds.prefix(10) ?? "?"))
    let policy = Message.Value.message(self.policy?.message ?? .verbatim(""))
    return switch kind {
    case .scheduledChange:
      Message(
        "Policy change of {pool} scheduled for {day} by {author}: {policy}",
        ["pool": pool, "day": day, "author": author, "policy": policy])
    case .approval:
      Message(
        """
        Waiting approval of a policy change of {pool} for {day}, requested by {author}: {policy}
        """, ["pool": pool, "day": day, "author": author, "policy": policy])
    case .policyTemplate:
      Message(
        "Policy template {name} of {pool}: {policy}",
        ["pool": pool, "name": name, "policy": policy])
    case .eventStream:
      Message(
        "Event stream {name} to {target}, added by {author}",
        ["name": name, "target": .text(detail), "author": author])
    case .reportSubscription:
      project.isEmpty
        ? Message(
          "Subscription of {author} to the report {report} of the instance, {rhythm}",
          ["author": author, "report": name, "rhythm": .text(detail)])
        : Message(
          "Subscription of {author} to the report {report} of {pool}, {rhythm}",
          ["author": author, "report": name, "pool": pool, "rhythm": .text(detail)])
    case .groupedRemoval:
      Message(
        """
        Removal across pools of {day} by {author}; the bulk removal of each pool stays
        """, ["day": day, "author": author])
    case .bouncedAddress:
      Message(
        "Mark by {author} of an address that bounces, of the user {user} of {pool}",
        ["author": author, "user": name, "pool": pool])
    case .note:
      Message(
        "Note of {day} by {author} about the user {user} of {pool}",
        ["day": day, "author": author, "user": name, "pool": pool])
    }
  }
}

extension PolicyEdit {
  fileprivate var message: Message {
    func value(_ field: PolicyChange.Field) -> Message.Value {
      .message(PolicyChange.value(field, self).message)
    }
    return Message(
      """
      TOTP: {totp}; adjacent intervals: {intervals}; SMS: {sms}; enrollment pattern: {pattern}; \
      server enforcement: {enforcement}
      """,
      [
        "totp": value(.totp), "intervals": value(.adjacentIntervals), "sms": value(.sms),
        "pattern": value(.pattern), "enforcement": value(.enforcement),
      ])
  }
}

extension Message {
  /// The line about a setting, before the migrations and in a dry run.
  static func dropped(_ setting: DroppedSetting) -> Message {
    Message("Dropped by the upgrade: {setting}.", ["setting": .message(setting.message)])
  }

  /// What to do about a database that lacks migrations.
  static func notMigrated(_ database: String, _ names: [String], _ folder: DataFolder) -> Message {
    Message(
      one: """
        {database} lacks {count} migration of this version. Stop the server, and run: countersign \
        migrate {options}
        """,
      other: """
        {database} lacks {count} migrations of this version. Stop the server, and run: \
        countersign migrate {options}
        """,
      [
        "database": .text(database), "count": .number(names.count),
        "options": .text(folder.options),
      ])
  }
}

extension DataFolder {
  /// The options of a command for the same database.
  var options: String {
    guard case .server(let address, _) = location else { return "--data \(path)" }
    return "--data \(path) --database '\(address)'"
  }
}

extension DroppedSetting.Kind {
  /// A number of settings, for the log.
  func message(_ count: Int) -> Message {
    switch self {
    case .scheduledChange:
      Message(
        one: "{count} scheduled policy change", other: "{count} scheduled policy changes",
        ["count": .number(count)])
    case .approval:
      Message(
        one: "{count} waiting approval", other: "{count} waiting approvals",
        ["count": .number(count)])
    case .policyTemplate:
      Message(
        one: "{count} policy template", other: "{count} policy templates",
        ["count": .number(count)])
    case .eventStream:
      Message(
        one: "{count} event stream", other: "{count} event streams", ["count": .number(count)])
    case .reportSubscription:
      Message(
        one: "{count} report subscription", other: "{count} report subscriptions",
        ["count": .number(count)])
    case .groupedRemoval:
      Message(
        one: "{count} removal across pools", other: "{count} removals across pools",
        ["count": .number(count)])
    case .bouncedAddress:
      Message(
        one: "{count} mark of a bouncing address", other: "{count} marks of bouncing addresses",
        ["count": .number(count)])
    case .note: Message(one: "{count} note", other: "{count} notes", ["count": .number(count)])
    }
  }
}
