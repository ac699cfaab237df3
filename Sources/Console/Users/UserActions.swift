import HTTP
import Identity
import Localization
import Templating

/// The actions on a user that the administrator can perform: those that the diagnosis makes likely,
/// then the others, with a row for each factor, and the destructive ones last.
struct UserActions: ViewModel {
  private(set) var likely: [UserActionLink] = []
  private(set) var more: [UserActionLink] = []
  private(set) var rows: [UserActionRow] = []
  private(set) var destructive: [UserActionLink] = []
  /// What agents confirm about a caller before they act; nil if the pool requires nothing.
  private(set) var checks: Message?

  private let context: PoolContext
  private let account: Account
  private let remedy: ConsoleAction?
  private let helpful: [ConsoleAction]

  init?(_ records: UserRecords, in context: PoolContext, at now: Instant) {
    self.context = context
    account = records.account
    (remedy, helpful) = (records.diagnosis.remedy, records.diagnosis.likely)
    addForCodes(records, at: now)
    for factor in account.factors { add(factor, by: records.rules, at: now) }
    for hold in records.removalHolds { add(hold) }
    addForAccount(records)
    guard !likely.isEmpty || hasMore || !destructive.isEmpty else { return nil }
    likely = helpful.flatMap { action in likely.filter { $0.action == action } }
    if !records.rules.identityProof.isEmpty, context.may(.removeFactors) {
      checks = Message(
        "Confirm the caller’s identity first: {checks}.",
        ["checks": .sequence(records.rules.identityProof.map(Message.verbatim))])
    }
  }

  private var hasMore: Bool { !more.isEmpty || !rows.isEmpty }

  private func link(
    _ action: ConsoleAction, _ text: Message, _ href: String, isDestructive: Bool = false
  ) -> UserActionLink? {
    let denial = context.signedIn.administrator.denial(
      of: action, on: account, in: context.pool)
    guard denial == nil else { return nil }
    return UserActionLink(
      action: action, text: text, href: href, isPrimary: action == remedy && !isDestructive,
      isDestructive: isDestructive)
  }

  private mutating func add(
    _ action: ConsoleAction, _ text: Message, _ href: String, isDestructive: Bool = false
  ) {
    guard let link = link(action, text, href, isDestructive: isDestructive) else { return }
    if isDestructive {
      destructive.append(link)
    } else if helpful.contains(action) {
      likely.append(link)
    } else {
      more.append(link)
    }
  }

  /// Adds the actions on `object`, those that are neither likely nor destructive as a row.
  ///
  /// Of several factors, only the one that the remedy is for has likely actions.
  private mutating func add(
    to object: Message, isOnly: Bool, _ actions: [(link: UserActionLink?, label: Message)]
  ) {
    var links: [UserActionLink] = []
    for (link, label) in actions {
      guard var link else { continue }
      link.object = object
      let isRemedy = link.isPrimary && !likely.contains(where: \.isPrimary)
      if link.isDestructive {
        destructive.append(link)
      } else if isRemedy || isOnly && helpful.contains(link.action) {
        likely.append(link)
      } else {
        link.label = label
        links.append(link)
      }
    }
    if !links.isEmpty { rows.append(UserActionRow(object: object, links: links)) }
  }

  private mutating func addForCodes(_ records: UserRecords, at now: Instant) {
    let (pool, uid) = (context.pool, account.id.text)
    if account.codeLock(at: now) != .open {
      add(.unlockCodes, Message("Unlock codes…"), ConsolePaths.unlock(pool, uid))
    }
    if records.rules.temporaryCodeDenial(for: account) == nil {
      add(
        .createTemporaryCode, Message("Generate temporary code…"),
        ConsolePaths.temporaryCode(pool, uid))
    }
    if records.canEnrollByLink {
      add(
        .sendEnrollmentLink, Message("Send enrollment link…"),
        ConsolePaths.enrollmentLink(pool, uid))
    }
    if records.backupCodes.temporaryUntil != nil {
      add(
        .revokeTemporaryCode, Message("Revoke temporary code…"),
        ConsolePaths.temporaryCodeRemoval(pool, uid), isDestructive: true)
    }
    if records.backupCodes.recoveryLeft != nil {
      add(
        .revokeRecoveryCodes, Message("Revoke recovery codes…"),
        ConsolePaths.recoveryCodesRemoval(pool, uid), isDestructive: true)
    }
  }

  private mutating func add(_ factor: Factor, by rules: SupportRules, at now: Instant) {
    let (pool, uid, id) = (context.pool, account.id.text, factor.id.text)
    let end = Message("End suspension…")
    var (resynchronization, clearing): (UserActionLink?, UserActionLink?) = (nil, nil)
    let denial = rules.resynchronizationDenial(
      of: factor, of: account, isClockDoubted: false, at: now)
    if denial == nil {
      resynchronization = link(
        .resynchronizeFactor, Message("Resynchronize factor…"),
        ConsolePaths.resynchronization(pool, uid, id))
    }
    if factor.clockOffset != nil {
      clearing = link(
        .clearClockOffset, Message("Clear clock offset…"), ConsolePaths.clockOffset(pool, uid, id))
    }
    add(
      to: Message.verbatim(Formatted.short(factor.label, 40)), isOnly: account.factors.count == 1,
      [
        factor.isSuspended(at: now)
          ? (link(.resumeFactor, end, ConsolePaths.endOfSuspension(pool, uid, id)), end)
          : (
            link(
              .suspendFactor, Message("Suspend factor…"),
              ConsolePaths.suspension(pool, uid, id)), Message("Suspend…")
          ),
        (
          link(
            .renameFactor, Message("Rename factor…"), ConsolePaths.factorName(pool, uid, id)),
          Message("Rename…")
        ),
        (resynchronization, Message("Resynchronize…")),
        (clearing, Message("Clear offset…")),
        (
          link(
            .removeFactor, Message("Remove factor…"), ConsolePaths.removal(pool, uid, id),
            isDestructive: true), Message("Remove…")
        ),
      ])
  }

  private mutating func add(_ hold: RemovalHold) {
    let (pool, uid, removal) = (context.pool, account.id.text, hold.id.text)
    let isOwn = hold.remover == context.signedIn.administrator.id
    let restore =
      isOwn ? Message("Ask another administrator to restore") : Message("Restore…")
    let delete = Message("Delete permanently…")
    add(
      to: Message.value(
        .sequence(hold.factors.map { .value(.name(Formatted.short($0.label, 40))) })),
      isOnly: true,
      [
        (link(.restoreFactors, restore, ConsolePaths.undo(pool, uid, removal)), restore),
        (
          link(
            .purgeFactors, delete, ConsolePaths.purge(pool, uid, removal), isDestructive: true),
          delete
        ),
      ])
  }

  private mutating func addForAccount(_ records: UserRecords) {
    let (pool, uid) = (context.pool, account.id.text)
    if records.sessionCount > 0 {
      add(
        .endSessions, Message("End all sessions…"), ConsolePaths.endOfSessions(pool, uid))
    }
    if account.disabled {
      add(.enableUser, Message("Enable user…"), ConsolePaths.enabling(pool, uid))
    }
    if account.email != nil, !account.emailVerified {
      add(
        .verifyEmail, Message("Mark email as verified…"),
        ConsolePaths.verification(pool, uid))
    }
    add(
      .protectUser,
      account.isProtected ? Message("Remove protection…") : Message("Protect…"),
      ConsolePaths.protection(pool, uid))
    add(.exportUserData, Message("Export user data…"), ConsolePaths.userData(pool, uid))
    // An exemption isn't renewed by its grantor.
    if records.exemption?.grantor != context.signedIn.administrator.id {
      add(.exemptUser, Message("Exempt from MFA…"), ConsolePaths.exemption(pool, uid))
    }
    if !account.factors.isEmpty {
      add(
        .removeAllFactors, Message("Remove all factors…"),
        ConsolePaths.removalOfAll(pool, uid), isDestructive: true)
    }
    if !account.disabled {
      add(
        .disableUser, Message("Disable user…"), ConsolePaths.disabling(pool, uid),
        isDestructive: true)
    }
    add(
      .deleteUser, Message("Delete user…"), ConsolePaths.deletion(pool, uid),
      isDestructive: true)
    add(
      .eraseUser, Message("Erase user data…"), ConsolePaths.erasure(pool, uid),
      isDestructive: true)
  }

  static let keys: Keys<Self> = [
    .flag("hasLikely") { !$0.likely.isEmpty },
    .list(\.likely),
    .flag("hasMore") { $0.hasMore },
    .list(\.more),
    .list(\.rows),
    .flag("hasDestructive") { !$0.destructive.isEmpty },
    .list(\.destructive),
    .text(\.checks),
  ]
}

struct UserActionRow: ViewModel {
  let object: Message
  let links: [UserActionLink]

  static let keys: Keys<Self> = [
    .text(\.object),
    .list(\.links),
  ]
}

struct UserActionLink: ViewModel {
  let action: ConsoleAction
  let text: Message
  let href: String
  /// What the action applies to; nil for the user.
  var object: Message?
  /// The visible text in a row, which names the object once; nil outside of rows.
  var label: Message?
  let isPrimary: Bool
  let isDestructive: Bool

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .text(\.object),
    .text(\.label),
    .flag(\.isPrimary),
  ]
}
