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
    let subscriptions = try await subscriptions(context.signedIn)
      .filter { $0.scope.key == context.scope.key }
    let frame = try await frames.frame(Message("reports.reports"), in: context)
    let subscribe = ConsolePaths.reportSubscription(context.scope)
    let items = Report.allCases.filter { context.may($0.permission) }.map { report in
      let subscription = subscriptions.first { $0.report == report }
      return ReportItem(
        name: report.name, explanation: report.explanation,
        href: ConsolePaths.report(report)(context.scope), report: report,
        subscribe: reports.carriesMail && subscription == nil ? subscribe : nil,
        subscription: subscription.map { row($0, context.signedIn) })
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
    var items: [ReportItem] = []
    if administrator.may(.seeAdministrators, in: nil) {
      items.append(
        ReportItem(
          name: AccessReviewPage.name, explanation: Message("reports.explain-access"),
          href: ConsolePaths.accessReview()))
    }
    if administrator.maySomewhere(.findUsers) {
      items.append(
        ReportItem(
          name: Report.exemptions.name, explanation: Message("reports.explain-all-exemptions"),
          href: ConsolePaths.exemptions()))
    }
    let own = try await subscriptions(signedIn).map { row($0, signedIn) }
    return .html(
      view.render(
        ReportsView(
          frame: FrameView(frame), csrf: signedIn.session.csrfToken, items: items, own: own,
          carriesMail: false)))
  }

  func subscribe(_ context: ScopeContext) async throws(Refusal) -> Response {
    let form = context.signedIn.form
    guard let report = Report(rawValue: form.trimmed("report")),
      let rhythm = ReportSubscription.Rhythm(rawValue: form.trimmed("rhythm"))
    else { throw .unreadableForm }
    do {
      try await reports.subscribe(
        context.signedIn.administrator.id, to: report, rhythm, in: context.scope)
    } catch {
      switch error {
      case .notAllowed, .subscriptionNotFound: throw .notAllowed(report.permission)
      case .unavailable: throw .unavailable(error)
      }
    }
    frames.leave(
      Message("reports.subscribed", ["report": .message(report.name)]), for: context.signedIn)
    return .redirect(to: ConsolePaths.reports(context.scope))
  }

  func cancel(_ signedIn: SignedIn, _ id: String) async throws(Refusal) -> Response {
    guard let id = Int64(id) else { throw .notFound }
    do {
      try await reports.cancel(id, of: signedIn.administrator.id)
    } catch {
      // Canceled in another window: what they wanted is so.
      if case .unavailable = error { throw .unavailable(error) }
    }
    frames.leave(Message("reports.canceled"), for: signedIn)
    return .redirect(to: ConsolePaths.allReports())
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
  /// The report about a pool; nil for one about the instance.
  var report: Report?
  /// The address to subscribe to it; nil without a mail server or with a subscription.
  var subscribe: String?
  var subscription: SubscriptionRow?

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.explanation),
    .text(\.href),
    .text("report") { $0.report?.rawValue },
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
    .text("href") { ConsolePaths.report($0.subscription.report)($0.subscription.scope) },
    .text("pool") { $0.subscription.scope.name },
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
