import Crypto
import Database
import Foundation
import HTTP
import Identity
import Localization
import MailText
import OTP
import Synchronization
import Templating
import TestDatabases
import TestProvider

@testable import Console

/// A clock that a test advances.
final class FixedClock: Sendable {
  /// Friday, November 20, 2026, 08:00 UTC.
  static let start = Instant(seconds: 1_795_161_600)
  private let present: Mutex<Instant>

  init(_ start: Instant = FixedClock.start) { present = Mutex(start) }

  var now: Instant { present.withLock { $0 } }
  var wall: WallClock { WallClock { self.now } }

  func advance(seconds: Int64) { present.withLock { $0 = $0.advanced(bySeconds: seconds) } }
}

/// Pseudorandom bytes that are the same in every run (SplitMix64).
final class RepeatingBytes: Sendable {
  private let state: Mutex<UInt64>

  init(seed: UInt64) { state = Mutex(seed) }

  var source: RandomSource {
    RandomSource { count in
      self.state.withLock { state in
        (0..<count).map { _ in
          state &+= 0x9E37_79B9_7F4A_7C15
          var mixed = state
          mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
          mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
          return UInt8(truncatingIfNeeded: mixed >> 56)
        }
      }
    }
  }
}

/// An instance with sample data, and its console.
///
/// Ada owns it. Acme Retail has the tenants eu-shop, where Chiara and others have factors, us-shop
/// and sandbox; Globex has no tenants or users. Nadia supports eu-shop only.
struct World: Sendable {
  let identity: Identity
  private(set) var console: Console
  let database: any Database
  let clock: FixedClock
  let setupCode: String
  /// The value of `Origin` that browsers send from the console's pages.
  let origin: String
  let log = Log()
  /// The provider with which administrators sign in once it's set up.
  let provider: TestProvider
  /// Another Countersign, whose project can be connected.
  let remote = RemoteDouble()
  /// The SQL statements that the database ran.
  let statements: Log

  /// Parsed once, and bound again for each world.
  private static let templates = Result {
    try TemplateLibrary(folder: Checkout.folder("Templates"))
  }
  /// Rendered once, because their samples are colored.
  private static let guides = Result {
    try Guides(folder: Checkout.folder("Templates/guides/en"))
  }
  static let password = "correct horse battery"
  static let publicURL = "https://mfa.example.com"

  /// Runs a test on a copy of the instance with sample data.
  static func withSampleData(
    publicURL: String = World.publicURL, sparePages: Int? = nil, carriesMail: Bool = false,
    carriesText: Bool = false, _ body: (World) async throws -> Void
  ) async throws {
    try await onCopy(
      of: try await SampleInstances.shared.template(), publicURL, sparePages,
      carriesMail: carriesMail, carriesText: carriesText, body
    )
  }

  /// Runs a test on an instance before its setup.
  static func empty(_ body: (World) async throws -> Void) async throws {
    try await onCopy(of: try await SampleInstances.shared.emptyTemplate(), publicURL, nil, body)
  }

  private static func onCopy(
    of template: DatabaseTemplate, _ publicURL: String, _ sparePages: Int?,
    carriesMail: Bool = false, carriesText: Bool = false,
    _ body: (World) async throws -> Void
  ) async throws {
    let statements = Log()
    let options = TestDatabase.Options(sparePages: sparePages, trace: { statements.add($0) })
    try await TestDatabase.with(template, options) { test in
      try await body(
        try await World(
          test.database, publicURL: publicURL, seed: 7, carriesMail: carriesMail,
          carriesText: carriesText, statements: statements))
    }
  }

  init(
    _ database: any Database, publicURL: String, seed: UInt64, clock: FixedClock = FixedClock(),
    carriesMail: Bool = false, carriesText: Bool = false, statements: Log = Log()
  ) async throws {
    self.database = database
    self.statements = statements
    let provider = TestProvider { clock.now.seconds }
    self.provider = provider
    let random = RepeatingBytes(seed: seed).source
    let keys = KeyRing(random: RepeatingBytes(seed: 1).source)
    let cost = PasswordHash.Cost(memory: 64, passes: 1)
    identity = try Identity(
      database: database, keys: keys, profile: .standalone,
      hasher: PasswordHasher(width: 2, cost: cost, random: random),
      mail: CatalogMailWriter([.english]), clock: clock.wall,
      random: random, carriesMail: carriesMail,
      carriesText: carriesText, providerTransport: provider,
      remoteClients: remote.clients(clock), remotePatience: remote.patience)
    try await identity.prepare()
    // Links in emails are paths, which a `Browser` follows.
    identity.outOfBandCodes.leadLinks(to: "")
    setupCode = try await identity.setup.issueCode()?.revealedText ?? ""
    guard let address = PublicURL(publicURL) else { throw Missing("public URL") }
    console = try Console(
      identity: identity, templates: try Self.templates.get(),
      publicURL: address, assets: ConsoleAssets { "/static/\($0)" },
      guides: try Self.guides.get(), log: { [log] in log.add("request \($0.text): \($1)") })
    self.clock = clock
    origin = address.origin
  }
}

extension World {
  /// The same instance with another message catalog.
  func localized(_ catalog: Catalog) throws -> World {
    guard let address = PublicURL(origin) else { throw Missing("public URL") }
    var world = self
    world.console = try Console(
      identity: identity,
      templates: try TemplateLibrary(folder: Checkout.folder("Templates"), catalog: catalog),
      publicURL: address, assets: ConsoleAssets { "/static/\($0)" },
      guides: try Self.guides.get(), log: { [log] in log.add("request \($0.text): \($1)") })
    return world
  }
}

/// Collects log lines.
final class Log: Sendable {
  private let kept = Mutex<[String]>([])

  var lines: [String] { kept.withLock { $0 } }

  func add(_ line: String) { kept.withLock { $0.append(line) } }
}

/// Something that a test needs is missing.
struct Missing: Error {
  let what: String
  init(_ what: String) { self.what = what }
}

/// The checkout that this test was built from.
enum Checkout {
  static func folder(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../\(name)")
      .standardized.path
  }
}

extension Message {
  /// The text in English.
  var english: String { Catalog.english.text(self) }
}
