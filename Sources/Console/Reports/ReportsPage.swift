import HTTP
import Identity
import Localization
import Templating

/// `S/reports` and `/reports`: the reports about a pool or the instance.
struct ReportsPage: Sendable {
  let frames: Frames
  let view: Template<ReportsView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let frame = try await frames.frame(Message("Reports"), in: context)
    let subjects: [ReportSubject] =
      pool.tenant == nil ? [.pool(pool), .project(pool)] : [.pool(pool)]
    let items = Report.allCases.flatMap { report in
      subjects.filter { context.signedIn.administrator.may(read: report, about: $0) }.map {
        ReportItem(
          name: report.name(about: $0), explanation: report.explanation,
          href: ConsolePaths.link(report, about: $0))
      }
    }
    return .html(view.render(ReportsView(frame: FrameView(frame), items: items)))
  }

  func showAll(_ signedIn: SignedIn) async throws -> Response {
    let frame = await frames.frame(Message("Reports"), for: signedIn)
    let items = Report.allCases.filter {
      signedIn.administrator.may(read: $0, about: .instance)
    }.map { report in
      ReportItem(
        name: report.name, explanation: report.explanationOfAll,
        href: ConsolePaths.report(report, about: .instance))
    }
    return .html(view.render(ReportsView(frame: FrameView(frame), items: items)))
  }
}

struct ReportsView: ViewModel {
  let frame: FrameView
  let items: [ReportItem]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("hasItems") { !$0.items.isEmpty },
    .list(\.items),
  ]
}

struct ReportItem: ViewModel {
  let name: Message
  let explanation: Message
  let href: String

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.explanation),
    .text(\.href),
  ]
}

extension ConsolePaths {
  fileprivate static func link(_ report: Report, about subject: ReportSubject) -> String {
    let path = Self.report(report, about: subject)
    guard case .project = subject else { return path }
    return (["tenants": "all"] as Form).query(of: path)
  }
}
