import Crypto
import Foundation
import Identity
import Localization

/// Waits until every server on the database has a new master key, which only decrypts until then.
struct KeyDistribution {
  static let patience = Duration.seconds(600)

  let lacking: () async throws -> [Nodes.Node]
  /// Waits until it's time to ask again; returns false if that was long enough.
  let pause: () async throws -> Bool
  let say: (Message) -> Void

  /// Asks an instance every second.
  init(of key: String, _ identity: Identity) {
    let end = ContinuousClock.now + Self.patience
    self.init(
      lacking: { try await identity.nodes.lacking(key) },
      pause: {
        try await Task.sleep(for: .seconds(1))
        return ContinuousClock.now < end
      }, say: { Terminal.say($0) })
  }

  init(
    lacking: @escaping () async throws -> [Nodes.Node], pause: @escaping () async throws -> Bool,
    say: @escaping (Message) -> Void
  ) {
    self.lacking = lacking
    self.pause = pause
    self.say = say
  }

  /// Says where to copy the file with the key, and waits.
  ///
  /// - Returns: The servers that still lack the key.
  func finish(copying file: String) async throws -> [String] {
    var places = try await lacking().map(\.place)
    guard !places.isEmpty else { return [] }
    say(
      Message(
        """
        The new key isn't used until every server has it. Copy {file} to these places, with mode \
        600 and the folder's user, unless they're the same file: {servers}. Where a variable or a \
        credential has the key, store both lines there, newest first, and restart the server. \
        Waiting for up to ten minutes.
        """, ["file": .text(file), "servers": .text(Self.list(places))]))
    while try await pause() {
      let left = try await lacking().map(\.place)
      for place in Set(places).subtracting(left).sorted() {
        say(Message("{server} has the new key.", ["server": .text(place)]))
      }
      places = left
      if places.isEmpty { return [] }
    }
    return places
  }

  static func list(_ places: [String]) -> String {
    places.joined(separator: ", ")
  }
}
