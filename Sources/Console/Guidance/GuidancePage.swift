import HTTP
import Identity
import Templating

/// `/guidance` and the guides below it.
struct GuidancePage: Sendable {
  let guides: Guides
  let frames: Frames
  let index: Template<GuidanceView>
  let view: Template<GuideView>

  func list(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let frame = frames.frame("Guidance", for: signedIn, tab: .guidance)
    return .html(index.render(GuidanceView(frame: FrameView(frame), guides: links(current: nil))))
  }

  func show(_ signedIn: SignedIn, _ name: String) async throws(Refusal) -> Response {
    guard let guide = guides.guide(name) else { throw .notFound }
    var frame = frames.frame("\(guide.title) · Guidance", for: signedIn, tab: .guidance)
    frame.crumbs = [Link(text: "Guidance", href: ConsolePaths.guidance())]
    return .html(
      view.render(
        GuideView(
          frame: FrameView(frame), guide: guide, guides: links(current: name))))
  }

  private func links(current: String?) -> [GuideLink] {
    guides.all.map { guide in
      GuideLink(
        href: ConsolePaths.guide(guide.pattern.rawValue), title: guide.title,
        summary: guide.summary, isCurrent: guide.pattern.rawValue == current)
    }
  }
}

struct GuidanceView: ViewModel {
  let frame: FrameView
  let guides: [GuideLink]

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .list("guides") { $0.guides },
  ]
}

struct GuideView: ViewModel {
  let frame: FrameView
  let guide: Guides.Guide
  let guides: [GuideLink]

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("title") { $0.guide.title },
    .markup("text") { $0.guide.text },
    .list("headings") { $0.guide.headings },
    .list("guides") { $0.guides },
  ]
}

struct GuideLink: ViewModel {
  let href: String
  let title: String
  let summary: String
  let isCurrent: Bool

  static let keys: Keys<Self> = [
    .text("href") { $0.href },
    .text("title") { $0.title },
    .text("summary") { $0.summary },
    .flag("isCurrent") { $0.isCurrent },
  ]
}
