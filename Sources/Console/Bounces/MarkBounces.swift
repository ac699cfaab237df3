import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/users/{uid}/bounces`: marks an email address of a user as bouncing; `…/working-address`
/// removes the mark.
struct MarkBounces: SupportAction {
  let pages: SupportPages
  /// Whether the mark is removed.
  var isEnding = false

  var action: ConsoleAction { isEnding ? .clearBounces : .markBounces }

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    let marked = try await pages.finding { () async throws(ActionDenial) in
      try await pages.support.bouncing(target.scope, target.user)
    }
    let addresses = isEnding ? marked.map(\.address) : account.addresses(without: marked)
    var question = isEnding ? clearing(account) : marking(account)
    question.choice = BouncesForm.choice(addresses, target)
    if addresses.isEmpty { question.refusal = ActionErrorText.sentence(.nothingToDo) }
    return question
  }

  private func marking(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("bounces.mark"),
      heading: Markup(
        html: Message("bounces.mark-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("bounces.waiting-stopped"), Message("bounces.no-more-email"),
        pages.identity.messages.carriesMail
          ? Message("bounces.last-email") : Message("factors.not-notified"),
      ], button: Message("bounces.mark"))
    question.reasons = [.asked, .other]
    return question
  }

  private func clearing(_ account: Account) -> SupportConfirmation {
    var question = SupportConfirmation(
      user: account, title: Message("bounces.clear"),
      heading: Markup(
        html: Message("bounces.clear-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("bounces.email-again"), Message("bounces.stopped-stay-unsent"),
      ], button: Message("bounces.clear"))
    question.isDestructive = false
    question.reasons = [.asked, .mistake, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let (scope, user) = (target.scope, target.user)
    let address = target.form.trimmed(BouncesForm.field)
    guard !isEnding else {
      let done = try await pages.support.clearBounces(scope, user, of: address, request)
      return SupportResult(
        Message("bounces.cleared", ["address": .name(Formatted.short(done.value))]), after: done)
    }
    let done = try await pages.support.markBounces(scope, user, of: address, request)
    return SupportResult(
      Message("bounces.marked", ["address": .name(Formatted.short(done.value))]), after: done)
  }
}

/// The choice of an address in the forms about bouncing addresses.
enum BouncesForm {
  static let field = "address"

  /// The addresses to choose from; the one that the form or the link to it names is chosen.
  static func choice(_ addresses: [String], _ target: SupportTarget) -> SupportChoice {
    let typed = target.form.trimmed(field)
    let named = typed.isEmpty ? target.context.signedIn.query.trimmed(field) : typed
    let chosen = addresses.first { $0.isSameBytes(as: named) } ?? addresses.first
    return SupportChoice(
      name: field, label: Message("bounces.address"),
      options: addresses.map { address in
        SupportOption(value: address, label: .verbatim(address), isChosen: address == chosen)
      })
  }

  /// The address of the form that marks an address, with the address chosen.
  static func link(_ scope: Scope, _ user: ID<Account>, _ address: String) -> String {
    ([field: address] as Form).query(of: ConsolePaths.bounces(scope, user.text))
  }
}

enum BouncesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    table.inScope(ConsolePaths.bounces, performing: MarkBounces(pages: parts.support))
    table.inScope(
      ConsolePaths.workingAddress, performing: MarkBounces(pages: parts.support, isEnding: true))
  }
}

/// A bouncing email address on the page of its user.
struct UserBounce: ViewModel {
  let bounce: BouncedAddress
  /// The address to remove the mark; nil without the permission.
  let end: String?
  let times: Times

  init(_ bounce: BouncedAddress, of account: Account, in context: ScopeContext) {
    self.bounce = bounce
    times = context.signedIn.times
    let denial = context.signedIn.administrator.denial(
      of: .clearBounces, on: account, in: context.scope)
    end = denial == nil ? ConsolePaths.workingAddress(context.scope, account.id.text) : nil
  }

  static let keys: Keys<Self> = [
    .markup("sentence") {
      Message(
        "bounces.on-user-page",
        [
          "address": .name(Formatted.short($0.bounce.address)),
          "at": $0.times.value($0.bounce.markedAt),
          "by": .name(Formatted.short($0.bounce.markedBy)),
        ])
    },
    .text(\.end),
  ]
}
