import HTTP
import Identity
import IdentityToolkitClient
import Localization
import MailText
import Templating

/// `S/changes/{number}`: a change that the server of a connected project was asked for, and its outcome.
struct ChangePage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<ChangeView>

  /// Asks the server again whether it made a change whose outcome is unknown.
  func read(_ context: PoolContext, _ number: String) async {
    guard let id = Int64(number) else { return }
    await identity.connections.reread(id, in: context.pool)
  }

  func show(_ context: PoolContext, _ number: String) async throws -> Response {
    let pool = context.pool
    guard let id = Int64(number) else { throw Refusal.notFound }
    let intent = try await identity.connections.change(id, in: pool)
    guard intent.account == nil || context.may(.findUsers) else {
      throw Refusal.notAllowed(.findUsers)
    }
    var account: Account?
    if let id = intent.account { account = try await identity.accounts.find(pool, id) }
    let frame = try await frames.frame(
      ChangeText.name(id), in: context, crumbs: [Self.parent(of: intent, account)])
    let model = ChangeView(
      frame: FrameView(frame), context: context, intent: intent,
      remote: try await identity.connections.find(pool.project).remote, account: account,
      refresh: PageRefresh(ChangeText.address(id, in: pool), context.signedIn.query))
    var response = Response.html(view.render(model))
    if model.isRunning { model.refresh.add(to: &response) }
    return response
  }

  /// The page of what it's about, or the list of those for a user who's no longer there.
  private static func parent(of intent: Intent, _ account: Account?) -> Link {
    guard intent.account != nil else {
      return Link(text: Message("MFA policy"), href: ConsolePaths.policy(intent.pool))
    }
    guard let account else {
      return Link(text: Message("Users"), href: ConsolePaths.users(intent.pool))
    }
    return Link(
      text: .verbatim(Formatted.short(account.label)),
      href: ConsolePaths.user(intent.pool, account.id.text))
  }
}

struct ChangeView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let intent: Intent
  let remote: RemoteProject
  /// The user as they're known here; nil for a policy, and for a user who was deleted.
  let account: Account?
  let refresh: PageRefresh

  var isRunning: Bool { intent.state == .waiting || intent.state == .sent }

  /// The name of the factor that's to be removed, while it's still there.
  private var factor: String? {
    guard case .factorsRemoved(let id?, seen: _) = intent.change else { return nil }
    return account?.factors.first { $0.id == id }?.label
  }

  private var outcome: ChangeOutcome {
    ChangeOutcome(intent: intent, remote: remote, factor: factor)
  }

  /// Where it's decided again; nil for what's over, and for those who can't.
  private var again: Link? {
    guard intent.state == .refused || intent.state == .lapsed else { return nil }
    guard intent.account == nil else { return account.flatMap(again) }
    let pool = context.pool
    guard case .policy(let new, _, let seen) = intent.change, context.may(.changePolicy) else {
      return nil
    }
    return new.configuration.isSMSOn == seen?.configuration.isSMSOn
      ? Link(text: Message("Change policy"), href: ConsolePaths.policy(pool))
      : Link(text: Message("Change text messages…"), href: ChangeTextMessages.path(pool))
  }

  private func again(_ account: Account) -> Link? {
    let (pool, uid) = (context.pool, account.id.text)
    func link(_ action: ConsoleAction, _ text: Message, _ href: String) -> Link? {
      let denial = context.signedIn.administrator.denial(of: action, on: account, in: pool)
      return denial == nil ? Link(text: text, href: href) : nil
    }
    switch intent.change {
    case .factorsRemoved(let id?, seen: _) where !outcome.requiresAll:
      guard factor != nil else {
        return Link(text: Message("View user"), href: ConsolePaths.user(pool, uid))
      }
      return link(.removeFactor, Message("Remove factor…"), RemoveFactor.path(pool, uid, id.text))
    case .factorsRemoved:
      return link(
        .removeAllFactors, Message("Remove all factors…"), RemoveAllFactors.path(pool, uid))
    case .disabled(true, seen: _):
      return link(.disableUser, Message("Disable user…"), DisableUser.path(pool, uid))
    case .disabled(false, seen: _):
      return link(.enableUser, Message("Enable user…"), EnableUser.path(pool, uid))
    case .sessionsEnded:
      return link(.endSessions, Message("End all sessions…"), EndSessions.path(pool, uid))
    case .policy, nil: return nil
    }
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [Fact(Message("Change"), ChangeText.what(intent.change))]
    facts.add(Message("Factor"), factor.map { HTML.isolated(Formatted.short($0)) })
    if case .policy(let new, _, let seen?) = intent.change {
      facts += PolicyChange.between(seen, new).map { Fact($0.field.label, $0.values) }
    }
    facts.append(about)
    if let policy = intent.cause?.policy {
      facts.append(Fact(Message("Now"), PolicySentence.text(policy)))
    }
    facts.append(Fact(Message("Requested by"), HTML.isolated(intent.requesterName)))
    facts.add(Message("Approved by"), text: intent.approver ?? "")
    facts.append(Fact(Message("Requested"), times.past(intent.requestedAt)))
    facts.add(Message("Sent"), intent.sentAt.map(times.past))
    facts.add(Message("Ended"), intent.endedAt.map(times.past))
    facts.add(Message("Details"), text: intent.detail ?? "")
    return facts
  }

  /// The user or the policy, with a link unless the user was deleted.
  private var about: Fact {
    guard intent.account != nil else {
      let (href, text) = (ConsolePaths.policy(context.pool), Message("MFA policy"))
      return Fact(Message("Policy"), #"<a href="\#(href)">\#(text)</a>"#)
    }
    guard let account else {
      return Fact(Message("User"), HTML.isolated(Formatted.short(intent.accountName)))
    }
    let href = ConsolePaths.user(context.pool, account.id.text)
    let name = HTML.isolated(Formatted.short(account.label))
    return Fact(Message("User"), #"<a href="\#(href)">\#(name)</a>"#)
  }

  private var audit: String? {
    guard context.may(.readAudit) else { return nil }
    let query: Form =
      intent.account.map { ["kind": "account", "object": $0.text] }
      ?? ["kind": "policy", "object": context.pool.objectID]
    return query.query(of: ConsolePaths.audit(context.pool))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { ChangeText.name($0.intent.id) },
    .text("place") { ApprovalText.place($0.context.pool) },
    .markup("chip") { ChangeText.chip($0.intent.state) },
    .text("weight") { $0.outcome.weight },
    .optional("severity") { $0.intent.state == .unknown ? SeverityMark(.changeUnknown) : nil },
    .text("heading") { $0.outcome.heading },
    .texts("sentences") { $0.outcome.sentences },
    .flag("isRunning") { $0.isRunning },
    .object(\.refresh),
    .text("check") {
      $0.intent.state == .unknown ? ChangeText.address($0.intent.id, in: $0.context.pool) : nil
    },
    .optional("again") { $0.again },
    .list("facts") { $0.facts },
    .text("audit") { $0.audit },
  ]
}

extension ConnectionRoutes {
  static func addChanges(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = try parts.page("connections/change", ChangePage.init)
    table.inside(
      ConsolePaths.change, .get(.readPolicy, needs: .connection), before: page.read, page.show)
  }
}
