import Localization
import Templating

/// A platform that guides have code samples for; one is shown at a time.
enum GuidePlatform: String, CaseIterable, Sendable {
  case web, kotlin, java, swift, objc, rest

  /// The end of the headings of this platform's samples, such as "Sign in: Android, Kotlin".
  var heading: String {
    switch self {
    case .web: "web"
    case .kotlin: "Android, Kotlin"
    case .java: "Android, Java"
    case .swift: "iOS, Swift"
    case .objc: "iOS, Objective-C"
    case .rest: "REST"
    }
  }

  fileprivate var name: Message {
    switch self {
    case .web: Message("Web")
    case .kotlin: Message("Android (Kotlin)")
    case .java: Message("Android (Java)")
    case .swift: Message("iOS (Swift)")
    case .objc: Message("iOS (Objective-C)")
    case .rest: Message("REST API")
    }
  }

  /// The platform whose samples follow a heading; nil if they're for every platform.
  init?(heading: String) {
    guard let platform = Self.allCases.first(where: { heading.hasSuffix(": \($0.heading)") })
    else { return nil }
    self = platform
  }

  /// The value of `data-for` of an element that's only for some platforms.
  static func names(_ platforms: [GuidePlatform]) -> String {
    platforms.map(\.rawValue).joined(separator: " ")
  }
}

struct GuidePlatformChoice: ViewModel {
  let platform: GuidePlatform
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .text("value") { $0.platform.rawValue },
    .text("name") { $0.platform.name },
    .flag(\.isChosen),
  ]
}
