import Identity
import Templating

extension MFAConfiguration {
  /// The window in which codes are accepted; nil when none is.
  var accepted: Window? { isTOTPOn ? window : nil }

  /// On or off as a chip.
  var chip: Markup {
    switch totp?.state {
    case .enabled: Self.onChip
    case .mandatory: Self.mandatoryChip
    case .unspecified: Self.unstatedChip
    case .disabled, nil: Self.offChip
    }
  }

  /// Whether TOTP counts as on although no state was written.
  var isUnstated: Bool { totp?.state == .unspecified }

  private static let onChip = Chip.on("on")
  private static let mandatoryChip = Chip.on("on, mandatory")
  private static let unstatedChip = Chip.look("on (state not given)")
  private static let offChip = Chip.off("off")
}

extension EnrolmentPattern {
  /// The name in lists and forms.
  var name: String {
    switch self {
    case .mandatory: "Mandatory at sign-up"
    case .skippable: "Skippable at sign-up"
    case .account: "From the account page"
    case .stepUp: "Step-up"
    }
  }

  /// One sentence for the one who chooses.
  var hint: String {
    switch self {
    case .mandatory: "Everybody enrols before they are let in."
    case .skippable: "Offered when signing up, can be put off."
    case .account: "Users who care switch it on themselves."
    case .stepUp: "Asked for when a sensitive feature is used."
    }
  }
}

/// Windows in words.
enum WindowWords {
  /// How many codes count and how old one may be.
  static func explanation(_ window: Window?) -> String {
    guard let window else { return "No code is asked for and none is accepted while TOTP is off." }
    let life = Words.duration(seconds: window.lifetime)
    guard window.adjacentIntervals > 0 else {
      return
        "1 code counts at any moment and lives \(life). A clock that is off by more is refused, and so is a slow typist."
    }
    let side = Words.duration(seconds: window.lateness)
    return
      "\(window.codes) codes count at any moment. Each lives \(life): from \(side) before its own half minute to \(side) after it, so a clock may be \(side) slow or fast."
  }

  /// The explanations for off, 0, 1, … 10, one per line, for the script that redraws the strip.
  static let explanations = ([nil] + Window.range.map(Window.init(adjacentIntervals:)))
    .map(explanation).joined(separator: "\n")

  /// The number for a fact or a table: `5, default`.
  static func number(_ configuration: MFAConfiguration) -> String {
    configuration.totp?.adjacentIntervals.map(String.init)
      ?? "\(Window.standard.adjacentIntervals), default"
  }
}
