import HTTP
import Identity
import Localization
import Templating

/// `/reports/removals`: removals of second factors in all projects, by reason and agent.
struct AllRemovalsPage: Sendable {
  let contents: ReportContents
  let frames: Frames
  let view: Template<ReportView>

  func show(_ signedIn: SignedIn) async throws -> Response {
    let content = try await contents.removals(about: .instance, signedIn)
    let name = Report.removals.name(about: .instance)
    var frame = await frames.frame(name, for: signedIn)
    frame.crumbs = [Link(text: Message("Reports"), href: ConsolePaths.allReports())]
    return .html(
      view.render(
        ReportView(
          frame: FrameView(frame), title: name, content: content,
          file: content.query.query(of: ConsolePaths.allRemovalsFile()),
          emptiness: Report.removals.emptiness)))
  }

  func download(_ signedIn: SignedIn) async throws -> Response {
    try await contents.removals(about: .instance, signedIn).table.csv(contents.catalog)
      .response(named: Report.removals.rawValue)
  }
}
