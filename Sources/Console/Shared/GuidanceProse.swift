import Identity
import Markdown
import Synchronization
import Templating

/// Renders and caches the support playbooks that administrators wrote; a version never changes.
///
/// The renderer drops raw HTML and unsafe links. It also leaves out images, because pages load
/// nothing from other origins.
final class GuidanceProse: Sendable {
  private struct Source: Hashable {
    let pool: Int64
    let version: GuidanceVersion
    let isBeginning: Bool
  }

  private static let most = 200
  private let rendered = Mutex<[Source: Markup]>([:])

  func markup(_ text: GuidanceText, of pool: Pool) -> Markup {
    kept(Source(pool: pool.key, version: text.version, isBeginning: false), text.text)
  }

  func markup(_ beginning: GuidanceBeginning, of pool: Pool) -> Markup {
    kept(Source(pool: pool.key, version: beginning.version, isBeginning: true), beginning.text)
  }

  private func kept(_ source: Source, _ text: String) -> Markup {
    if let markup = rendered.withLock({ $0[source] }) { return markup }
    // A text that an earlier version accepted can exceed today's limits.
    let markup =
      (try? Self.render(text, headingLevel: source.isBeginning ? 3 : 2)) ?? "<pre>\(text)</pre>"
    rendered.withLock { rendered in
      if rendered.count >= Self.most { rendered = [:] }
      rendered[source] = markup
    }
    return markup
  }

  /// - Throws: `MarkdownError` if the text exceeds the renderer's limits.
  static func render(
    _ text: String, headingLevel: Int
  ) throws(MarkdownError) -> Markup {
    let fit = MarkdownFit(headingLevel: headingLevel, idPrefix: "guidance-", showsImages: false)
    return Markup(trusted: try renderHTML(markdown: text, fit: fit).html)
  }
}
