import Identity
import Templating

/// Audit rows in words.
enum AuditWords {
  /// What was done, as a person would say it.
  static func action(_ row: AuditRow) -> String {
    actions[row.action] ?? row.action.split(separator: ".").joined(separator: ": ")
  }

  static let actions = [
    "account.allow-changes": "Changes of second factors allowed again",
    "account.change": "User changed",
    "account.change-email": "Email changed by the user",
    "account.create": "User created",
    "account.delete": "User deleted",
    "account.delete-all": "All users deleted",
    "account.download": "Users downloaded",
    "account.expire": "Anonymous users deleted, being 30 days old",
    "account.import": "Users imported",
    "account.link": "Link made for a user",
    "account.note": "Note written",
    "account.protect": "Account protected",
    "account.recover-email": "Former email restored by the user",
    "account.reset-password": "Password reset by the user",
    "account.sign-up": "User signed up",
    "account.take-back-note": "Note taken back",
    "account.unlock": "Codes unlocked",
    "account.unprotect": "Protection of the account ended",
    "account.verify-email": "Email verified by the user",
    "administrator.block": "Guessing at an administrator slowed down",
    "administrator.code-due": "Password of an administrator right, code due",
    "administrator.code-refused": "Code of an administrator refused",
    "administrator.create": "Administrator created",
    "administrator.end-sessions": "Sessions of the administrator ended",
    "administrator.enroll": "Second factor of the administrator set up",
    "administrator.grant": "Role given",
    "administrator.invite": "Administrator invited",
    "administrator.password": "Password of the administrator changed",
    "administrator.preferences": "Preferences changed",
    "administrator.recovery-codes": "Recovery codes made",
    "administrator.remove": "Administrator removed",
    "administrator.reset-factor": "Second factor of the administrator reset",
    "administrator.reset-password": "Password of the administrator reset",
    "administrator.revoke": "Role revoked",
    "administrator.revoke-invitation": "Invitation revoked",
    "administrator.sign-in": "Administrator signed in",
    "administrator.sign-in-refused": "Sign-in of an administrator refused",
    "administrator.step-up": "Administrator gave a code of their own",
    "administrator.sign-out": "Administrator signed out",
    "administrator.withdraw": "Second factor of the administrator removed",
    "api-key.create": "API key made",
    "api-key.revoke": "API key revoked",
    "approval.approve": "Request approved",
    "approval.ask": "Second administrator asked for approval",
    "approval.expire": "Request that nobody approved expired",
    "approval.overtake": "Request approved too late, nothing done",
    "approval.refuse": "Request refused",
    "approval.withdraw": "Request withdrawn",
    "audit.download": "Audit log downloaded",
    "bulk.finish": "Removal for many users done",
    "bulk.start": "Removal for many users begun",
    "bulk.stop": "Removal for many users stopped",
    "support.change": "Rules of the support changed",
    "support.hold": "Agent stopped after many actions",
    "support.release": "Agent released",
    "support.step-up": "Time for own codes at the support changed",
    "factor.end-recovery-codes": "Recovery codes ended",
    "factor.end-temporary-code": "Temporary code ended",
    "factor.enroll": "Factor enrolled",
    "factor.object": "Change disowned by the user",
    "factor.purge": "Removed factor purged",
    "factor.purge-now": "Removed factors purged before their time",
    "factor.recovery-codes": "Recovery codes made by the user",
    "factor.remove": "Factor removed",
    "factor.remove-all": "All factors removed",
    "factor.rename": "Factor renamed",
    "factor.restore": "Removed factors restored",
    "factor.resume": "Suspension of a factor ended",
    "factor.revert": "New factor taken back by the user",
    "factor.send-link": "Link to enroll sent",
    "factor.suspend": "Factor suspended",
    "factor.temporary-code": "Temporary code made",
    "factor.use-recovery-code": "Signed in with a recovery code",
    "factor.use-temporary-code": "Signed in with a temporary code",
    "factor.withdraw": "Factor withdrawn by the user",
    "guidance.change": "Guidance changed",
    "instance.confirm-clock": "Clock confirmed",
    "instance.restore": "Backup restored",
    "key.create": "Signing key created",
    "key.retire": "Signing key retired",
    "key.rotate": "Signing key made to follow another",
    "master-key.drop": "Former master key dropped",
    "master-key.reseal": "Everything sealed with the new master key",
    "master-key.rotate": "Master key rotated",
    "message.read": "Message to a user opened",
    "policy.change": "MFA policy changed",
    "policy.widen": "Window widened",
    "project.change": "Project changed",
    "project.create": "Project created",
    "project.delete": "Project deleted",
    "provider.change": "Identity provider changed",
    "provider.create": "Identity provider added",
    "provider.delete": "Identity provider removed",
    "secret.unreadable": "Stored secret couldn't be opened",
    "service-token.create": "Service token created",
    "service-token.revoke": "Service token revoked",
    "sessions.end": "Sessions ended",
    "signer.add": "Key for custom tokens registered",
    "signer.revoke": "Key for custom tokens revoked",
    "tenant.change": "Tenant changed",
    "tenant.create": "Tenant created",
    "tenant.delete": "Tenant deleted",
  ]

  /// What actions begin with, as filters name it; some happen outside of every scope.
  static let groups: [(name: String, words: String, isOfInstance: Bool)] = [
    ("policy", "MFA policy", false),
    ("factor", "Second factors", false),
    ("account", "Users", false),
    ("sessions", "Sessions", false),
    ("support", "Support", false),
    ("approval", "Approvals", false),
    ("bulk", "Removals for many users", false),
    ("message", "Messages to users", false),
    ("project", "Projects", false),
    ("tenant", "Tenants", false),
    ("guidance", "Guidance", false),
    ("api-key", "API keys", false),
    ("service-token", "Service tokens", false),
    ("provider", "Identity providers", false),
    ("signer", "Keys for custom tokens", false),
    ("secret", "Stored secrets", false),
    ("administrator", "Administrators", true),
    ("key", "Signing keys", true),
    ("master-key", "Master keys", true),
    ("instance", "The instance", true),
    ("audit", "The audit log itself", false),
  ]

  /// The kinds of things that rows are about, as filters name them.
  static let objectKinds: [(kind: String, words: String, isOfInstance: Bool)] = [
    ("policy", "MFA policy", false),
    ("policy window", "window of accepted codes", false),
    ("account", "user", false),
    ("project", "project", false),
    ("tenant", "tenant", false),
    ("scope", "whole user pool", false),
    ("guidance", "guidance", false),
    ("message", "message to a user", false),
    ("bulk removal", "removal for many users", false),
    ("api key", "API key", false),
    ("service token", "service token", false),
    ("provider", "identity provider", false),
    ("signer", "key for custom tokens", false),
    ("administrator", "administrator", true),
    ("signing key", "signing key", true),
    ("master key", "master key", true),
    ("instance", "instance", true),
  ]

  /// The kinds of actors, as filters name them.
  static let actorKinds: [(kind: String, words: String)] = [
    ("administrator", "administrators"), ("user", "users, on themselves"),
    ("service token", "service tokens"), ("command line", "the command line"),
    ("server", "the server by itself"),
    ("visitor", "nobody signed in"),
  ]

  /// Who did it.
  ///
  /// Users act on themselves, and their uid would say nothing.
  static func who(_ row: AuditRow) -> String {
    row.actorKind == "user" && row.actorID == row.objectID ? "the user" : row.actorName
  }

  /// From what to what, in one line; empty when there is nothing to tell.
  static func change(_ row: AuditRow) -> String {
    changes(row).joined(separator: "; ")
  }

  /// From what to what, a line for each field.
  ///
  /// Rows keep both sides as “field: value; …”; where
  /// they do not match, they are told whole.
  static func changes(_ row: AuditRow) -> [String] {
    switch (row.from, row.to) {
    case (nil, nil): return []
    case (let from?, nil): return ["was " + from]
    case (nil, let to?): return [to]
    case (let from?, let to?):
      let pairs = zip(fields(from), fields(to))
      guard fields(from).count == fields(to).count,
        pairs.allSatisfy({ $0.name == $1.name && $0.name != nil })
      else { return ["\(from) → \(to)"] }
      return pairs.map { "\($0.name ?? "") \($0.value) → \($1.value)" }
    }
  }

  private static func fields(_ text: String) -> [(name: Substring?, value: Substring)] {
    text.split(separator: "; ").map { part in
      guard let colon = part.firstRange(of: ": ") else { return (nil, part) }
      return (part[..<colon.lowerBound], part[colon.upperBound...])
    }
  }

  /// Why, as far as it was said, for which ticket and on which proof.
  static func reason(_ row: AuditRow) -> String {
    let reason = row.reason.map { SupportReason(rawValue: $0)?.name ?? $0 }
    let note = (row.note?.isEmpty ?? true) ? nil : row.note
    let why = [reason, note].compactMap { $0 }.joined(separator: ": ")
    let proof = row.proof.map { proof in
      "made sure: " + proof.split(separator: "\n").joined(separator: "; ")
    }
    return [why.isEmpty ? nil : why, row.ticket.map { "ticket \($0)" }, proof]
      .compactMap { $0 }.joined(separator: " · ")
  }
}

/// One line of a thing's history.
final class HistoryRow: ViewModel {
  let what: String
  let change: String
  let who: String
  let at: Markup
  let why: String

  init(_ row: AuditRow, _ times: Times) {
    what = AuditWords.action(row)
    change = AuditWords.change(row)
    who = AuditWords.who(row)
    at = times.moment(row.at)
    why = AuditWords.reason(row)
  }

  /// In the history of a policy the values matter, not that it was changed.
  init(policy row: AuditRow, _ times: Times) {
    what = Words.sentence(AuditWords.change(row))
    change = ""
    who = AuditWords.who(row)
    at = times.moment(row.at)
    why = AuditWords.reason(row)
  }

  static let keys: Keys<HistoryRow> = [
    .text("what") { $0.what },
    .text("change") { $0.change },
    .text("who") { $0.who },
    .markup("at") { $0.at },
    .text("why") { $0.why },
  ]
}
