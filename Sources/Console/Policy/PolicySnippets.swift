import Identity
import Localization
import Templating

/// The calls that write a policy, for every combination of the form's values.
///
/// The page shows the one for the selected values: those that depend on the number of intervals have
/// the classes `w0` to `w10` and `wd`, and the style sheet hides all but the selected one. What the
/// server draws as selected has the class `shown`, for browsers without `:has()`.
struct PolicySnippets: ViewModel {
  let curl: Markup
  let node: Markup

  init(_ policy: Policy, _ answers: PolicyAnswers, publicURL: PublicURL) {
    let (pool, old) = (policy.pool, policy.configuration)
    curl = Self.all(policy.edit, answers) {
      PolicyCurl.text(pool, $0.configuration, over: old, publicURL: publicURL)
    }
    node = Self.all(policy.edit, answers) { PolicyNode.text(pool, $0.configuration, over: old) }
  }

  /// The calls that make one change.
  init(_ preview: PolicyPreview, publicURL: PublicURL) {
    let (pool, old) = (preview.policy.pool, preview.policy.configuration)
    let new = preview.new.configuration
    curl = Markup(
      escaping: .verbatim(PolicyCurl.text(pool, new, over: old, publicURL: publicURL)))
    node = Markup(escaping: .verbatim(PolicyNode.text(pool, new, over: old)))
  }

  static let keys: Keys<Self> = [
    .markup(\.curl),
    .markup(\.node),
  ]

  private static func all(
    _ edit: PolicyEdit, _ answers: PolicyAnswers, _ text: (PolicyEdit) -> String
  ) -> Markup {
    var html = HTML()
    for (totp, sms) in [("on", "on"), ("on", "off"), ("off", "on"), ("off", "off")] {
      let shown = answers.totp == totp && answers.sms == sms ? " shown" : ""
      html.add(#"<span class="variant totp-\#(totp) sms-\#(sms)\#(shown)">"#)
      let texts = WindowChoice.all.map { choice in
        let request = PolicyChangeRequest(
          isOn: totp == "on", intervals: choice.intervals, isSMSOn: sms == "on",
          pattern: edit.pattern, mandatoryFrom: edit.mandatoryFrom, enforcement: .unchanged)
        return Array(text(request.applied(to: edit)).utf8)
      }
      add(texts, answers, to: &html)
      html.add("</span>")
    }
    return html.markup
  }

  /// Adds texts that differ only in their middle: the common start and end once.
  private static func add(_ texts: [[UInt8]], _ answers: PolicyAnswers, to html: inout HTML) {
    let first = texts[0]
    let start = texts.map { zip($0, first).prefix { $0 == $1 }.count }.min() ?? 0
    let end =
      texts.map { text in
        let rest = zip(text.dropFirst(start).reversed(), first.dropFirst(start).reversed())
        return rest.prefix { $0 == $1 }.count
      }.min() ?? 0
    html.add("\(String(decoding: first[..<start], as: UTF8.self))")
    for (choice, text) in zip(WindowChoice.all, texts) {
      let shown = choice.value == answers.intervals ? " shown" : ""
      let own = String(decoding: text[start..<text.count - end], as: UTF8.self)
      html.add(#"<span class="o \#(choice.name)\#(shown)">\#(own)</span>"#)
    }
    html.add("\(String(decoding: first[(first.count - end)...], as: UTF8.self))")
  }
}
