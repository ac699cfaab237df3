import Crypto
import Database
import JSON
import Text

/// How far an audit file is written.
///
/// It has the links of some entries, because a restored backup uses numbers again for other entries.
public struct AuditFilePosition: Sendable, Equatable {
  struct Place: Sendable, Equatable {
    let sequence: Int64
    let link: [UInt8]
  }

  /// Written entries, the last one at the end.
  private(set) var places: [Place] = []
  /// The entry of the last written head.
  private(set) var head: Int64 = 0

  private static let schema = "countersign-audit-file-position/1"

  public init() {}

  public init?(_ text: [UInt8]) {
    guard let json = try? JSON.parse(text), json["schema"]?.textValue?.text == Self.schema,
      let head = json["head"]?.numberValue?.int64, let places = json["places"]?.arrayValue
    else { return nil }
    self.head = head
    for place in places {
      guard let sequence = place["sequence"]?.numberValue?.int64,
        let link = (place["link"]?.textValue?.text).flatMap({ Hex.decode(Array($0.utf8)) })
      else { return nil }
      self.places.append(Place(sequence: sequence, link: link))
    }
  }

  public var text: [UInt8] {
    let places = places.map { place -> JSON in
      ["sequence": .number(JSON.Number(place.sequence)), "link": .string(Hex.encode(place.link))]
    }
    let json: JSON = [
      "schema": .string(Self.schema), "head": .number(JSON.Number(head)),
      "places": .array(places),
    ]
    return json.serialized()
  }

  /// The last written entry; 0 for none.
  var sequence: Int64 { places.last?.sequence ?? 0 }

  /// Advances to an entry.
  ///
  /// Of earlier ones, some dozens are kept, which are the closer together the newer they are: after a
  /// restore, about as much is repeated as was lost.
  mutating func advance(to link: ChainLink) {
    var kept = [Place(sequence: link.sequence, link: link.link)]
    var last = link.sequence
    for (index, place) in places.enumerated().reversed() {
      // Without it, the gap would still be at most half as long as the way to its end.
      let isDispensable =
        index > 0 && last - places[index - 1].sequence <= (link.sequence - last) / 2
      guard !isDispensable else { continue }
      kept.append(place)
      last = place.sequence
    }
    places = kept.reversed()
  }

  mutating func advance(to head: AuditHead) { self.head = max(self.head, head.sequence) }

  /// Goes back to the last entry that this log still has, or that nothing is left out after.
  mutating func goBack(in connection: borrowing Connection) throws {
    let removed = try AuditTombstone.latest(connection)?.last ?? 0
    while let place = places.last, place.sequence > removed,
      try ChainLink.find(place.sequence, connection)?.link != place.link
    {
      places.removeLast()
      // The entry may have another head.
      head = min(head, max(sequence - 1, 0))
    }
  }
}
