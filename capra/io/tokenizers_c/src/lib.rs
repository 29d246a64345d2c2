//! The functions of capra_tokenizers.h over the tokenizers crate. Nothing here decides what a token
//! is; what is ours: padding and the file's truncation are off, the cut keeps the special tokens, and
//! no bad file or text can unwind into, or abort, the caller.
use std::ffi::c_int;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::slice;
use std::sync::Once;

use serde::Serialize;
use serde_json::{json, Value};
use tokenizers::models::ModelWrapper;
use tokenizers::normalizers::{Lowercase, NormalizerWrapper, Sequence};
use tokenizers::utils::truncation::{
    truncate_encodings, TruncationDirection, TruncationParams, TruncationStrategy,
};
use tokenizers::Tokenizer;

const OK: c_int = 0;
const BAD_FILE: c_int = 1;
const NO_PRE_TOKENIZER: c_int = 2;
const RANDOM: c_int = 3;
const ENCODE_FAILED: c_int = 4;
const LIMIT_TOO_SMALL: c_int = 5;
const PANIC: c_int = 6;

pub struct CapraTokenizer {
    tokenizer: Tokenizer,
    description: String,
}

#[repr(C)]
pub struct CapraTokenizersText {
    data: *mut u8,
    size: usize,
}

#[repr(C)]
pub struct CapraTokenizersIds {
    ids: *mut u32,
    type_ids: *mut u32,
    count: usize,
    dropped: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CapraTokenizersOptions {
    add_special_tokens: c_int,
    truncate_left: c_int,
    max_tokens: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CapraTokenizersChanges {
    lowercase: c_int,
    strip_accents: c_int,
    handle_chinese_chars: c_int,
    lowercase_first: c_int,
}

type Failure = (c_int, String);

fn bytes_of<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if data.is_null() || size == 0 {
        return &[];
    }
    // SAFETY: the interface asks for `size` readable bytes at `data` for the length of the call.
    unsafe { slice::from_raw_parts(data, size) }
}

fn leak<T>(values: Vec<T>) -> *mut T {
    Box::into_raw(values.into_boxed_slice()).cast()
}

/// Frees what `leak` made.
unsafe fn reclaim<T>(data: *mut T, size: usize) {
    if !data.is_null() {
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut(data, size)));
    }
}

fn text_of(text: String) -> CapraTokenizersText {
    let size = text.len();
    CapraTokenizersText {
        data: leak(text.into_bytes()),
        size,
    }
}

/// Runs `body`, turning a panic into a failure; the default hook would print to stderr.
fn guarded<T>(body: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap_or_else(|| "no description".to_string());
        Err((PANIC, text))
    })
}

/// Long strings (such as a precompiled character map) say nothing to a reader.
fn shortened(value: Value) -> Value {
    match value {
        Value::String(s) if s.len() > 120 => Value::String(format!("({} bytes)", s.len())),
        Value::Array(items) => Value::Array(items.into_iter().map(shortened).collect()),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(k, v)| (k, shortened(v))).collect())
        }
        other => other,
    }
}

fn as_json<T: Serialize>(part: Option<&T>) -> Value {
    part.map_or(Value::Null, |p| {
        shortened(serde_json::to_value(p).unwrap_or(Value::Null))
    })
}

/// Applies what the files beside tokenizer.json ask for; false if it already held.
fn change(normalizer: &mut Option<NormalizerWrapper>, changes: CapraTokenizersChanges) -> bool {
    let mut changed = false;
    if let Some(NormalizerWrapper::BertNormalizer(settings)) = normalizer {
        let before = (
            settings.lowercase,
            settings.strip_accents,
            settings.handle_chinese_chars,
        );
        if changes.lowercase >= 0 {
            settings.lowercase = changes.lowercase != 0;
        }
        match changes.strip_accents {
            0 => settings.strip_accents = Some(false),
            1 => settings.strip_accents = Some(true),
            2 => settings.strip_accents = None,
            _ => {}
        }
        if changes.handle_chinese_chars >= 0 {
            settings.handle_chinese_chars = changes.handle_chinese_chars != 0;
        }
        changed = before
            != (
                settings.lowercase,
                settings.strip_accents,
                settings.handle_chinese_chars,
            );
    }
    if changes.lowercase_first != 0 && !matches!(normalizer, Some(NormalizerWrapper::Lowercase(_)))
    {
        let mut steps = vec![NormalizerWrapper::Lowercase(Lowercase)];
        steps.extend(normalizer.take());
        *normalizer = Some(NormalizerWrapper::Sequence(Sequence::new(steps)));
        changed = true;
    }
    changed
}

fn load(json: &[u8], changes: CapraTokenizersChanges) -> Result<CapraTokenizer, Failure> {
    let mut tokenizer =
        Tokenizer::from_bytes(json).map_err(|error| (BAD_FILE, error.to_string()))?;
    let (model, random) = match tokenizer.get_model() {
        ModelWrapper::BPE(bpe) => ("BPE", bpe.dropout.is_some_and(|p| p > 0.0)),
        ModelWrapper::WordPiece(_) => ("WordPiece", false),
        ModelWrapper::WordLevel(_) => ("WordLevel", false),
        ModelWrapper::Unigram(_) => ("Unigram", false),
    };
    if random {
        return Err((RANDOM, "the model declares dropout".to_string()));
    }
    if model == "WordPiece" && tokenizer.get_pre_tokenizer().is_none() {
        return Err((
            NO_PRE_TOKENIZER,
            "the model is WordPiece and pre_tokenizer is null".to_string(),
        ));
    }
    let truncation = as_json(tokenizer.get_truncation());
    let padding = as_json(tokenizer.get_padding());
    tokenizer.with_padding(None);
    tokenizer
        .with_truncation(None)
        .map_err(|error| (BAD_FILE, error.to_string()))?;

    let mut normalizer = tokenizer.get_normalizer().cloned();
    let changed = change(&mut normalizer, changes);
    if changed {
        tokenizer.with_normalizer(normalizer);
    }
    let id_bound = tokenizer
        .get_vocab(true)
        .values()
        .max()
        .map_or(0, |id| u64::from(*id) + 1);
    let description = json!({
        "model": model,
        "normalizer": as_json(tokenizer.get_normalizer()),
        "normalizer_changed": changed,
        "pre_tokenizer": as_json(tokenizer.get_pre_tokenizer()),
        "post_processor": as_json(tokenizer.get_post_processor()),
        "added_tokens": tokenizer.get_added_tokens_decoder().len(),
        "vocabulary_size": tokenizer.get_vocab_size(true),
        "id_bound": id_bound,
        "special_tokens_single": added_tokens(&tokenizer, false),
        "special_tokens_pair": added_tokens(&tokenizer, true),
        "declared_truncation": truncation,
        "declared_padding": padding,
    })
    .to_string();
    Ok(CapraTokenizer {
        tokenizer,
        description,
    })
}

fn added_tokens(tokenizer: &Tokenizer, pair: bool) -> usize {
    use tokenizers::PostProcessor;
    tokenizer
        .get_post_processor()
        .map_or(0, |p| p.added_tokens(pair))
}

struct Ids {
    ids: Vec<u32>,
    type_ids: Vec<u32>,
    dropped: usize,
}

fn encode(
    tokenizer: &Tokenizer,
    first: &[u8],
    second: Option<&[u8]>,
    options: CapraTokenizersOptions,
) -> Result<Ids, Failure> {
    let failed = |error: tokenizers::Error| (ENCODE_FAILED, error.to_string());
    let tokens_of = |text: &[u8]| {
        let text = std::str::from_utf8(text).map_err(|error| (ENCODE_FAILED, error.to_string()))?;
        tokenizer.encode_fast(text, false).map_err(failed)
    };
    let mut first = tokens_of(first)?;
    let mut second = second.map(tokens_of).transpose()?;
    let length = |a: &tokenizers::Encoding, b: &Option<tokenizers::Encoding>| {
        a.len() + b.as_ref().map_or(0, |e| e.len())
    };

    let add = options.add_special_tokens != 0;
    let special = if add {
        added_tokens(tokenizer, second.is_some())
    } else {
        0
    };
    let before = length(&first, &second);
    if options.max_tokens != 0 && before + special > options.max_tokens {
        if options.max_tokens <= special {
            let text = format!(
                "a limit of {} tokens, and {} special tokens stand round every text",
                options.max_tokens, special
            );
            return Err((LIMIT_TOO_SMALL, text));
        }
        let cut = TruncationParams {
            direction: if options.truncate_left != 0 {
                TruncationDirection::Left
            } else {
                TruncationDirection::Right
            },
            max_length: options.max_tokens - special,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        };
        (first, second) = truncate_encodings(first, second, &cut).map_err(failed)?;
        // What was cut off would be post-processed too, and for pairs in every combination.
        first.take_overflowing();
        second.as_mut().map(|e| e.take_overflowing());
    }
    let dropped = before - length(&first, &second);
    let encoding = tokenizer.post_process(first, second, add).map_err(failed)?;
    Ok(Ids {
        ids: encoding.get_ids().to_vec(),
        type_ids: encoding.get_type_ids().to_vec(),
        dropped,
    })
}

/// Always 1: the library is here. A build without it has another answer.
#[no_mangle]
pub extern "C" fn capra_tokenizers_built() -> c_int {
    1
}

/// # Safety
/// `json` points to `size` bytes; `tokenizer` and `message` can be written.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_load(
    json: *const u8,
    size: usize,
    changes: CapraTokenizersChanges,
    tokenizer: *mut *mut CapraTokenizer,
    message: *mut CapraTokenizersText,
) -> c_int {
    *tokenizer = ptr::null_mut();
    *message = CapraTokenizersText {
        data: ptr::null_mut(),
        size: 0,
    };
    match guarded(|| load(bytes_of(json, size), changes)) {
        Ok(loaded) => {
            *tokenizer = Box::into_raw(Box::new(loaded));
            OK
        }
        Err((code, text)) => {
            *message = text_of(text);
            code
        }
    }
}

/// # Safety
/// `tokenizer` came from capra_tokenizers_load and is not used afterwards; null is allowed.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_free(tokenizer: *mut CapraTokenizer) {
    if !tokenizer.is_null() {
        drop(Box::from_raw(tokenizer));
    }
}

/// # Safety
/// The pointers are as capra_tokenizers.h says.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_encode(
    tokenizer: *const CapraTokenizer,
    first: *const u8,
    first_size: usize,
    second: *const u8,
    second_size: usize,
    options: *const CapraTokenizersOptions,
    ids: *mut CapraTokenizersIds,
    message: *mut CapraTokenizersText,
) -> c_int {
    *ids = CapraTokenizersIds {
        ids: ptr::null_mut(),
        type_ids: ptr::null_mut(),
        count: 0,
        dropped: 0,
    };
    *message = CapraTokenizersText {
        data: ptr::null_mut(),
        size: 0,
    };
    let pair = (!second.is_null()).then(|| bytes_of(second, second_size));
    let tokenizer = &(*tokenizer).tokenizer;
    match guarded(|| encode(tokenizer, bytes_of(first, first_size), pair, *options)) {
        Ok(encoded) => {
            *ids = CapraTokenizersIds {
                count: encoded.ids.len(),
                dropped: encoded.dropped,
                ids: leak(encoded.ids),
                type_ids: leak(encoded.type_ids),
            };
            OK
        }
        Err((code, text)) => {
            *message = text_of(text);
            code
        }
    }
}

/// # Safety
/// `ids` was filled by capra_tokenizers_encode.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_free_ids(ids: *mut CapraTokenizersIds) {
    reclaim((*ids).ids, (*ids).count);
    reclaim((*ids).type_ids, (*ids).count);
    (*ids).ids = ptr::null_mut();
    (*ids).type_ids = ptr::null_mut();
    (*ids).count = 0;
}

/// # Safety
/// `token` points to `size` bytes.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_token_to_id(
    tokenizer: *const CapraTokenizer,
    token: *const u8,
    size: usize,
) -> i64 {
    let tokenizer = &(*tokenizer).tokenizer;
    guarded(|| {
        Ok(std::str::from_utf8(bytes_of(token, size))
            .ok()
            .and_then(|text| tokenizer.token_to_id(text))
            .map_or(-1, i64::from))
    })
    .unwrap_or(-1)
}

/// # Safety
/// `token` can be written.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_id_to_token(
    tokenizer: *const CapraTokenizer,
    id: u32,
    token: *mut CapraTokenizersText,
) -> c_int {
    *token = CapraTokenizersText {
        data: ptr::null_mut(),
        size: 0,
    };
    let tokenizer = &(*tokenizer).tokenizer;
    match guarded(|| Ok(tokenizer.id_to_token(id))) {
        Ok(Some(text)) => {
            *token = text_of(text);
            1
        }
        _ => 0,
    }
}

/// # Safety
/// `json` can be written.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_describe(
    tokenizer: *const CapraTokenizer,
    json: *mut CapraTokenizersText,
) {
    *json = text_of((*tokenizer).description.clone());
}

/// # Safety
/// `text` can be written.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_save(
    tokenizer: *const CapraTokenizer,
    text: *mut CapraTokenizersText,
) -> c_int {
    let tokenizer = &(*tokenizer).tokenizer;
    let saved = guarded(|| {
        tokenizer
            .to_string(false)
            .map_err(|error| (BAD_FILE, error.to_string()))
    });
    match saved {
        Ok(json) => {
            *text = text_of(json);
            OK
        }
        Err((code, message)) => {
            *text = text_of(message);
            code
        }
    }
}

/// # Safety
/// `text` was filled by this library.
#[no_mangle]
pub unsafe extern "C" fn capra_tokenizers_free_text(text: *mut CapraTokenizersText) {
    reclaim((*text).data, (*text).size);
    *text = CapraTokenizersText {
        data: ptr::null_mut(),
        size: 0,
    };
}
