import CCmark

/// A document as libcmark parsed it.
///
/// The nodes it hands out are good for as long as it lives and they are part of it.
@safe struct Tree: ~Copyable {
  private let root: Node

  /// Parses a text; nil when there is no memory for it.
  init?(_ markdown: String) {
    let count = markdown.utf8.count
    let document = unsafe markdown.withCString {
      unsafe cmark_parse_document($0, count, CMARK_OPT_DEFAULT)
    }
    guard let document = unsafe document else { return nil }
    unsafe root = Node(document)
  }

  deinit {
    unsafe root.free()
  }

  /// All nodes of the given kinds, each before what is in it.
  func nodes(_ kinds: cmark_node_type...) -> [Node] {
    unsafe root.descendants.filter { unsafe kinds.contains($0.kind) }
  }

  /// The HTML of the document.
  ///
  /// What the links and the raw HTML hold has been seen to before; the safe mode of libcmark, which
  /// is on unless it is switched off, is there all the same.
  func html() -> String {
    unsafe String(taking: cmark_render_html(root.pointer, CMARK_OPT_DEFAULT))
  }
}

/// A node of a ``Tree``.
@unsafe struct Node {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) {
    unsafe self.pointer = pointer
  }

  var kind: cmark_node_type { unsafe cmark_node_get_type(pointer) }
  var literal: String { unsafe String(lending: cmark_node_get_literal(pointer)) }
  var url: String { unsafe String(lending: cmark_node_get_url(pointer)) }
  var title: String { unsafe String(lending: cmark_node_get_title(pointer)) }
  var headingLevel: Int { unsafe Int(cmark_node_get_heading_level(pointer)) }

  /// The node and all nodes in it, each before what is in it.
  var descendants: [Node] {
    var nodes: [Node] = unsafe []
    let iterator = unsafe cmark_iter_new(pointer)
    defer { unsafe cmark_iter_free(iterator) }
    while true {
      switch unsafe cmark_iter_next(iterator) {
      case CMARK_EVENT_DONE: return unsafe nodes
      case CMARK_EVENT_ENTER:
        if let node = unsafe cmark_iter_get_node(iterator) { unsafe nodes.append(Node(node)) }
      default: break
      }
    }
  }

  /// Makes a link lead elsewhere.
  func lead(to address: String) {
    _ = unsafe cmark_node_set_url(pointer, address)
  }

  /// Takes the node, with all that is in it, out of its tree and out of memory.
  func free() {
    unsafe cmark_node_free(pointer)
  }

  /// Puts what is in the node in its place.
  func unwrap() {
    while let child = unsafe cmark_node_first_child(pointer) {
      unsafe cmark_node_insert_before(pointer, child)
    }
    unsafe free()
  }

  /// Puts own HTML around what is in the node, instead of what libcmark would put there.
  ///
  /// - Parameters:
  ///   - kind: `CMARK_NODE_CUSTOM_BLOCK` or `CMARK_NODE_CUSTOM_INLINE`, as the node is.
  ///   - start: The HTML in front.
  ///   - end: The HTML behind.
  func rewrap(as kind: cmark_node_type, _ start: String, _ end: String) {
    guard let custom = unsafe cmark_node_new(kind) else { return }
    unsafe cmark_node_set_on_enter(custom, start)
    unsafe cmark_node_set_on_exit(custom, end)
    while let child = unsafe cmark_node_first_child(pointer) {
      unsafe cmark_node_append_child(custom, child)
    }
    unsafe cmark_node_replace(pointer, custom)
    unsafe free()
  }
}

extension String {
  /// Copies a C string that belongs to libcmark; nothing is the empty text.
  fileprivate init(lending text: UnsafePointer<CChar>?) {
    self = unsafe text.map { unsafe String(cString: $0) } ?? ""
  }

  /// Copies a C string and frees it; nothing is the empty text.
  fileprivate init(taking text: UnsafeMutablePointer<CChar>?) {
    unsafe self.init(lending: text)
    unsafe cmark_get_default_mem_allocator().pointee.free(text)
  }
}
