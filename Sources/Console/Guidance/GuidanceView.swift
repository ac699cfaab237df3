import HTTP
import Identity
import Localization
import Templating

struct GuidanceView: ViewModel {
  let frame: FrameView
  let place: GuidePoolView?
  let guides: [GuideLink]

  static let keys: Keys<Self> = [
    .object(\.frame),
    .optional(\.place),
    .list(\.guides),
  ]
}

struct GuideView: ViewModel {
  let frame: FrameView
  let guide: Guides.Guide
  let text: Markup
  let place: GuidePoolView?
  let platform: GuidePlatform
  let cookie: String
  let facts: [Fact]
  let guides: [GuideLink]

  init(
    frame: FrameView, guide: Guides.Guide, publicURL: PublicURL, place: GuidePool?,
    platform: GuidePlatform, cookie: String, guides: [GuideLink]
  ) {
    self.frame = frame
    self.platform = platform
    self.cookie = cookie
    self.guide = guide
    self.guides = guides
    let values = place?.values(publicURL) ?? GuideValues(publicURL)
    text = guide.text.markup(values)
    self.place = place.map {
      GuidePoolView($0, ConsolePaths.guide(guide.pattern.rawValue))
    }
    facts = place.map { Self.facts($0, values) } ?? []
  }

  private static func facts(_ place: GuidePool, _ values: GuideValues) -> [Fact] {
    var facts = [
      Fact(Message("Address"), code(values[.address])),
      Fact(Message("Project ID"), code(place.pool.project.text)),
    ]
    if let tenant = place.pool.tenant {
      facts.append(Fact(Message("Tenant ID"), code(tenant.text)))
    }
    let key =
      place.key.key.map { code($0.text) }
      ?? place.key.note.map { Markup(escaping: $0.message) } ?? HTML().markup
    facts.append(Fact(Message("API key"), key))
    if let policy = place.policy {
      facts.append(
        Fact(Message("Current window"), WindowStrip.small(policy.configuration)))
      facts.append(
        Fact(
          Message("Enrollment pattern"),
          policy.edit.patternName ?? Message("none recorded")))
    }
    return facts
  }

  private static func code(_ text: String) -> Markup {
    var html = HTML()
    html.raw("<span class=\"mono\" data-copy>")
    html.text(text)
    html.raw("</span>")
    return html.markup
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.guide.pattern.name },
    .markup(\.text),
    .optional(\.place),
    .list(\.facts),
    .text("action") { ConsolePaths.guide($0.guide.pattern.rawValue) },
    .text(\.cookie),
    .list("platforms") { view in
      GuidePlatform.allCases.map {
        GuidePlatformChoice(platform: $0, isChosen: $0 == view.platform)
      }
    },
    .list("headings") { $0.guide.text.headings },
    .list(\.guides),
  ]
}

struct GuidePoolView: ViewModel {
  let place: GuidePool
  /// The address of the same page without values.
  let plain: String

  init(_ place: GuidePool, _ plain: String) {
    self.place = place
    self.plain = plain
  }

  private var isOff: Bool { place.policy.map { !$0.configuration.isTOTPOn } ?? false }

  static let keys: Keys<Self> = [
    .text("name") { $0.place.pool.name },
    .text("projectID") { $0.place.pool.project.text },
    .text("tenantID") { $0.place.pool.tenant?.text },
    .text(\.plain),
    .flag("isOff") { $0.isOff },
    .text("own") { ConsolePaths.poolGuidance($0.place.pool) },
    .text("policy") {
      $0.place.context.may(.readPolicy) ? ConsolePaths.policy($0.place.pool) : nil
    },
  ]
}

struct GuideLink: ViewModel {
  let pattern: EnrollmentPattern
  let href: String
  let title: Message
  let summary: String
  let isCurrent: Bool
  /// Whether the pattern is the one recorded for the pool that the guides were opened from.
  let isRecorded: Bool

  static let keys: Keys<Self> = [
    .text(\.href),
    .text(\.title),
    .text(\.summary),
    .flag(\.isCurrent),
    .flag(\.isRecorded),
    .text("who") { $0.pattern.comparison.who },
    .text("friction") { $0.pattern.comparison.friction },
    .text("risk") { $0.pattern.comparison.risk },
    .text("code") { $0.pattern.comparison.code },
  ]
}

extension EnrollmentPattern {
  fileprivate var comparison: (who: Message, friction: Message, risk: Message, code: Message) {
    switch self {
    case .mandatory:
      (
        Message("Everyone"), Message("High: no access without an authenticator app"),
        Message("Low: no password-only accounts, once your server checks"),
        Message("A sign-up step, and a check on your server for every request")
      )
    case .skippable:
      (
        Message("Most users, over several weeks"), Message("Low: one page that users can skip"),
        Message("Medium: users who choose “later” have only a password"),
        Message("A prompt, a record of who declined, and sign-in with and without a code")
      )
    case .account:
      (
        Message("The few who look for it"), Message("None, unless users opt in"),
        Message("High for everyone else: nothing changes for them"),
        Message("An account page section, and sign-in with and without a code")
      )
    case .stepUp:
      (
        Message("Users of sensitive features"),
        Message("Low: only when a sensitive feature is used"),
        Message("Low for those features, unchanged elsewhere"),
        Message("A check on your server for each such feature, and a way to return to it")
      )
    }
  }
}
