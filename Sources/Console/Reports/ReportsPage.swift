import HTTP
import Identity
import Localization
import MailText
import Templating

/// `S/reports` and `/reports`: the reports about a pool or the instance, and which of them the
/// administrator gets by email.
struct ReportsPage: Sendable {
  let reports: Reports
  let frames: Frames
  let view: Template<ReportsView>

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let scope = context.scope
    let subscriptions = try await subscriptions(context.signedIn)
    let frame = try await frames.frame(Message("reports.reports"), in: context)
    let subjects: [ReportSubject] =
      scope.tenant == nil ? [.pool(scope), .project(scope)] : [.pool(scope)]
    let items = Report.allCases.flatMap { report in
      subjects.filter { context.signedIn.administrator.may(read: report, about: $0) }.map {
        item(
          report, about: $0, subscriptions, ConsolePaths.reportSubscription(scope),
          context.signedIn)
      }
    }
    return .html(
      view.render(
        ReportsView(
          frame: FrameView(frame), csrf: context.signedIn.session.csrfToken, items: items,
          carriesMail: reports.carriesMail)))
  }

  func showAll(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let (administrator, frame) = (
      signedIn.administrator, frames.frame(Message("reports.reports"), for: signedIn)
    )
    let subscriptions = try await subscriptions(signedIn)
    var items: [ReportItem] = []
    for report in [Report.access, .dormantAdministrators, .removals, .exemptions]
    where administrator.may(read: report, about: .instance) {
      items.append(
        item(
          report, about: .instance, subscriptions, ConsolePaths.allReportsSubscription(),
          signedIn))
    }
    let own = subscriptions.map { row($0, signedIn) }
    return .html(
      view.render(
        ReportsView(
          frame: FrameView(frame), csrf: signedIn.session.csrfToken, items: items, own: own,
          carriesMail: reports.carriesMail)))
  }

  /// A report in the list, with the form to subscribe to it or the subscription.
  private func item(
    _ report: Report, about subject: ReportSubject, _ subscriptions: [ReportSubscription],
    _ subscribe: String, _ signedIn: SignedIn
  ) -> ReportItem {
    let subscription = subscriptions.first { $0.report == report && $0.subject == subject }
    return ReportItem(
      name: subject == .instance ? report.name : report.name(about: subject),
      explanation: subject == .instance ? report.explanationOfAll : report.explanation,
      href: ConsolePaths.link(report, about: subject), report: report, subject: subject,
      subscribe: reports.carriesMail && subscription == nil ? subscribe : nil,
      subscription: subscription.map { row($0, signedIn) })
  }

  func subscribe(_ context: ScopeContext) async throws(Refusal) -> Response {
    let isWhole = context.signedIn.form.trimmed("tenants") == "all"
    return try await subscribe(
      to: isWhole ? .project(context.scope) : .pool(context.scope), context.signedIn,
      back: ConsolePaths.reports(context.scope))
  }

  func subscribeToAll(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    try await subscribe(to: .instance, signedIn, back: ConsolePaths.allReports())
  }

  private func subscribe(
    to subject: ReportSubject, _ signedIn: SignedIn, back: String
  ) async throws(Refusal) -> Response {
    let form = signedIn.form
    guard let report = Report(rawValue: form.trimmed("report")),
      let rhythm = ReportSubscription.Rhythm(rawValue: form.trimmed("rhythm"))
    else { throw .unreadableForm }
    do {
      try await reports.subscribe(
        signedIn.administrator.id, to: report, rhythm, about: subject)
    } catch {
      switch error {
      case .notAllowed, .subscriptionNotFound: throw .notAllowed(report.permission)
      case .unavailable: throw .unavailable(error)
      }
    }
    frames.leave(
      Message("reports.subscribed", ["report": .message(report.name(about: subject))]),
      for: signedIn)
    return .redirect(to: back)
  }

  func cancel(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    guard let id = Int64(id) else { throw .notFound }
    // The list of a pool's reports says so; that of all subscriptions doesn't.
    let scope =
      signedIn.form.trimmed("at") == "pool"
      ? try await subscriptions(signedIn).first { $0.id == id }?.subject.scope : nil
    do {
      try await reports.cancel(id, of: signedIn.administrator.id)
    } catch {
      // Canceled in another window, so the subscription is already gone.
      if case .unavailable = error { throw .unavailable(error) }
    }
    frames.leave(Message("reports.canceled"), for: signedIn)
    return .redirect(to: scope.map { ConsolePaths.reports($0) } ?? ConsolePaths.allReports())
  }

  private func subscriptions(
    _ signedIn: SignedIn
  ) async throws(Refusal) -> [ReportSubscription] {
    try await refusing { try await reports.subscriptions(of: signedIn.administrator) }
  }

  private func row(_ subscription: ReportSubscription, _ signedIn: SignedIn) -> SubscriptionRow {
    SubscriptionRow(subscription: subscription, times: signedIn.times)
  }
}

struct ReportsView: ViewModel {
  let frame: FrameView
  let csrf: String
  let items: [ReportItem]
  /// The administrator's subscriptions in all pools; empty on the page of a pool.
  var own: [SubscriptionRow] = []
  let carriesMail: Bool

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.csrf),
    .flag("hasItems") { !$0.items.isEmpty },
    .list(\.items),
    .flag(\.carriesMail),
    .flag("hasOwn") { !$0.own.isEmpty },
    .list(\.own),
  ]
}

/// A report in the list.
struct ReportItem: ViewModel {
  let name: Message
  let explanation: Message
  let href: String
  let report: Report
  let subject: ReportSubject
  /// The address to subscribe to it; nil without a mail server or with a subscription.
  var subscribe: String?
  var subscription: SubscriptionRow?

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.explanation),
    .text(\.href),
    .text("report") { $0.report.rawValue },
    .flag("withTenants") { if case .project = $0.subject { true } else { false } },
    .text(\.subscribe),
    .optional(\.subscription),
  ]
}

/// A report that the administrator gets by email.
struct SubscriptionRow: ViewModel {
  let subscription: ReportSubscription
  let times: Times

  static let keys: Keys<Self> = [
    .text("name") { $0.subscription.report.name },
    .text("href") { ConsolePaths.link($0.subscription.report, about: $0.subscription.subject) },
    .text("pool") { row in
      guard row.subscription.report.coversPools else { return Message("common.the-instance") }
      switch row.subscription.subject {
      case .pool(let scope): return .verbatim(scope.name)
      case .project(let scope):
        return Message("reports.project-with-tenants", ["project": .name(scope.name)])
      case .instance: return Message("parts.all-projects")
      }
    },
    .text("sent") { row in
      let next = row.times.value(row.subscription.nextAt)
      switch row.subscription.rhythm {
      case .weekly: return Message("reports.sent-weekly", ["next": next])
      case .monthly: return Message("reports.sent-monthly", ["next": next])
      }
    },
    .text("cancel") {
      ConsolePaths.subscriptionCancellation(String($0.subscription.id))
    },
  ]
}

extension ConsolePaths {
  /// The link to a report.
  fileprivate static func link(_ report: Report, about subject: ReportSubject) -> String {
    let path = Self.report(report, about: subject)
    guard case .project = subject else { return path }
    return (["tenants": "all"] as Form).query(of: path)
  }
}
